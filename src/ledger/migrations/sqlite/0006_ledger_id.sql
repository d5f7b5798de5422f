-- Random id of this ledger, for the notes of commits beside it. One row.
CREATE TABLE ledger (
  id TEXT NOT NULL
) STRICT;

INSERT INTO ledger (id) VALUES (lower(hex(randomblob(16))));
