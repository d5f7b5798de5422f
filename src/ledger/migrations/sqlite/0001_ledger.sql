-- Ids are compared as bytes (BINARY collation) and may hold any character, also NUL. Times are
-- milliseconds since the epoch.

CREATE TABLE tenants (
  tenant TEXT NOT NULL PRIMARY KEY,
  -- Number of its runs that are neither evicted nor purged, for the limit.
  runs INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
  key INTEGER PRIMARY KEY,
  tenant TEXT NOT NULL,
  -- NULL while the run is being purged.
  run TEXT,
  -- Callers see an `evicting` run as evicted; some of its rows are not erased yet. A `purging` run
  -- is the data of a purged run, without its name, until the rows are erased. A `purged` row holds
  -- only a name and a last number; there are none after migration 0008.
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
  -- Last failure, which the next one may repeat.
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
  -- Also the key of the first chunk. The keys of the other chunks follow without a gap.
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

-- Finds retries and the results of a tool use id. With the number in the index, the rows need not
-- be read.
CREATE INDEX results_by_call ON results (run, tool_use_id, sha256, number) WHERE tool_use_id <> '';
CREATE UNIQUE INDEX results_by_idempotency_key ON results (run, idempotency_key)
WHERE idempotency_key IS NOT NULL;

-- With rowids: BLOBs of this size would fill the inner nodes of a WITHOUT ROWID tree.
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
  -- Encoding of `bytes`. 0: as they are; 1: one zstd frame.
  encoding INTEGER NOT NULL,
  -- Number of bytes of the value, and their CRC-32.
  length INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
  bytes BLOB NOT NULL
) STRICT;

-- Without first chunks, so that the many values of one chunk need no index entries.
CREATE INDEX chunks_by_byte ON chunks (result, first_byte, n) WHERE n > 0;
CREATE INDEX chunks_by_line ON chunks (result, first_line, n) WHERE n > 0;
CREATE INDEX chunks_by_char ON chunks (result, first_char, n) WHERE n > 0;

-- Uploads, by the key that their result will have. Their chunks exist, but no result has them yet.
-- Uploads that are not under way are erased.
CREATE TABLE uploads (
  key INTEGER PRIMARY KEY
) STRICT;
