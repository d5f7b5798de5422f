-- One row while erased rows may have left copies of their bytes in pages that are not scrubbed yet.
CREATE TABLE scrubs (
  key INTEGER PRIMARY KEY CHECK (key = 1)
) STRICT;
