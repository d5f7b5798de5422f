-- Last numbers of purged runs by a digest of their names (see `purged-numbers.ts`). One row for
-- each digest, so that the number of rows is bounded.
CREATE TABLE purged_numbers (
  key INTEGER PRIMARY KEY,
  tenant TEXT NOT NULL,
  slot INTEGER NOT NULL,
  last_number INTEGER NOT NULL,
  row_checksum INTEGER,
  UNIQUE (tenant, slot)
) STRICT;

CREATE INDEX purged_numbers_again ON purged_numbers (tenant, slot, key);

INSERT INTO purged_numbers (tenant, slot, last_number)
SELECT tenant, purged_slot(run), max(last_number) FROM runs WHERE state = 'purged' GROUP BY 1, 2;

DELETE FROM runs WHERE state = 'purged';
