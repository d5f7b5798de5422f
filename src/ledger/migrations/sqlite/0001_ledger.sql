-- Ids are compared as bytes (BINARY collation), and may hold any character, NUL too. Times are milliseconds since the epoch.

CREATE TABLE tenants (
  tenant TEXT NOT NULL PRIMARY KEY,
  -- Its runs that are neither evicted nor purged, for the limit.
  runs INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
  key INTEGER PRIMARY KEY,
  tenant TEXT NOT NULL,
  -- NULL when purging.
  run TEXT,
  -- An `evicting` run is evicted to all callers; some of its rows have yet to go. Of a `purged` one, only its name and
  -- last number mean anything; what it had is a `purging` one, without a name, until its rows are gone.
  state TEXT NOT NULL
    CHECK (state IN ('open', 'ended', 'expired', 'evicting', 'evicted', 'purged', 'purging')),
  format TEXT NOT NULL,
  ttl_seconds INTEGER NOT NULL,
  verbatim_limit_chars INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  last_request_at INTEGER NOT NULL,
  ended_at INTEGER,
  last_number INTEGER NOT NULL DEFAULT 0,
  results INTEGER NOT NULL DEFAULT 0,
  kept_bytes INTEGER NOT NULL DEFAULT 0,
  produced_chars INTEGER NOT NULL DEFAULT 0,
  shown_chars INTEGER NOT NULL DEFAULT 0,
  -- The failure that a next one would repeat.
  failure_key TEXT,
  failure_repeats INTEGER NOT NULL DEFAULT 0,
  UNIQUE (tenant, run),
  CHECK ((run IS NULL) = (state = 'purging'))
) STRICT;

CREATE INDEX runs_to_erase ON runs (state DESC, key) WHERE state IN ('evicting', 'purging');

CREATE TABLE tools (
  key INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs (key),
  name TEXT NOT NULL,
  input_schema BLOB NOT NULL,
  UNIQUE (run, name)
) STRICT;

CREATE TABLE results (
  -- Also the key of its first chunk; the others follow it without a gap.
  key INTEGER PRIMARY KEY,
  chunks INTEGER NOT NULL,
  run INTEGER NOT NULL REFERENCES runs (key),
  number INTEGER NOT NULL,
  evidence_id TEXT NOT NULL,
  recall_name TEXT NOT NULL,
  tool_use_id TEXT NOT NULL,
  idempotency_key TEXT,
  tool_name TEXT,
  outcome TEXT NOT NULL CHECK (outcome IN ('output', 'failure', 'suspension')),
  kind TEXT NOT NULL CHECK (kind IN ('json', 'text', 'binary')),
  media_type TEXT NOT NULL,
  total_bytes INTEGER NOT NULL,
  total_chars INTEGER,
  total_lines INTEGER,
  view_bytes INTEGER NOT NULL,
  sha256 BLOB NOT NULL CHECK (length(sha256) = 32),
  view_form TEXT NOT NULL CHECK (view_form IN ('text', 'string', 'json', 'none')),
  view_start INTEGER NOT NULL,
  view_end INTEGER NOT NULL,
  preview TEXT NOT NULL,
  hint TEXT NOT NULL CHECK (hint IN ('reference', 'raw_read', 'recall')),
  repeats INTEGER NOT NULL,
  verbatim_limit_chars INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (run, number),
  UNIQUE (run, evidence_id)
) STRICT;

-- Finds retries, and what was put under an id; the number saves a look at each row.
CREATE INDEX results_by_call ON results (run, tool_use_id, sha256, number) WHERE tool_use_id <> '';
CREATE UNIQUE INDEX results_by_idempotency_key ON results (run, idempotency_key)
WHERE idempotency_key IS NOT NULL;

-- With rowids, since BLOBs of this size would crowd the inner nodes of a WITHOUT ROWID tree.
CREATE TABLE chunks (
  -- result + n
  key INTEGER PRIMARY KEY,
  result INTEGER NOT NULL,
  n INTEGER NOT NULL,
  first_byte INTEGER NOT NULL,
  first_line INTEGER NOT NULL,
  first_crlf INTEGER NOT NULL,
  first_char INTEGER NOT NULL,
  state INTEGER NOT NULL,
  -- Of `bytes`. 0: as they are; 1: one zstd frame.
  encoding INTEGER NOT NULL,
  -- How many bytes of the value these are, and their CRC-32.
  length INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
  bytes BLOB NOT NULL
) STRICT;

-- Without first chunks, so that the many values of one chunk cost no index entries.
CREATE INDEX chunks_by_byte ON chunks (result, first_byte, n) WHERE n > 0;
CREATE INDEX chunks_by_line ON chunks (result, first_line, n) WHERE n > 0;
CREATE INDEX chunks_by_char ON chunks (result, first_char, n) WHERE n > 0;

-- Values on their way in pieces, by the key that they will have: their chunks are there, and no result has them yet. What
-- nobody is adding to is erased.
CREATE TABLE uploads (
  key INTEGER PRIMARY KEY
) STRICT;
