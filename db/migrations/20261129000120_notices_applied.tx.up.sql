-- Who followed a notice of change, and when the contact became what it says (rest/CONTRACT.md, notices of change).
ALTER TABLE ach_notices ADD approval bigint,               -- that the change of the contact waited for; NULL: for none
  ADD maker_client text NOT NULL DEFAULT '',              -- who asked for it; '': nobody has
  ADD maker_login text NOT NULL DEFAULT '',               -- '' for a program
  ADD maker_reach text NOT NULL DEFAULT '',
  ADD applied_at timestamptz;
