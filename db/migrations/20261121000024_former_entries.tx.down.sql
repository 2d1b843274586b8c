DROP TABLE audit_former;
