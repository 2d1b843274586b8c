DROP TABLE sending_resumptions;
