-- The lock file under which the ledger was last opened: one row at most. A start with another lock file makes sure that no
-- other process has the ledger open.
CREATE TABLE lock_file (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  -- Device and inode.
  identity TEXT NOT NULL
) STRICT;
