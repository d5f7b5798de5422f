-- The lock file under which the ledger was last opened; at most one row. A start with another lock
-- file checks that no other process has the ledger open.
CREATE TABLE lock_file (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  -- Device and inode.
  identity TEXT NOT NULL
) STRICT;
