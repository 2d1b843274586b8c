DROP INDEX fee_tiers_account;
DROP INDEX accounts_fbo_number;
DROP INDEX accounts_default_offset;
DROP TABLE sweeps;
