-- One row while erased rows may have left copies of their bytes in pages of the file, and those pages have yet to be scrubbed.
CREATE TABLE scrubs (
  key INTEGER PRIMARY KEY CHECK (key = 1)
) STRICT;
