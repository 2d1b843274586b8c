DROP TABLE IF EXISTS information_requests;
