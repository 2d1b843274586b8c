DROP TABLE postings;
DROP TABLE journals;
DROP SEQUENCE journal_ids;
DROP TABLE balances;
DROP TABLE limit_usage;
DROP TABLE limits;
DROP TABLE fee_tiers;
DROP SEQUENCE fee_tier_ids;
