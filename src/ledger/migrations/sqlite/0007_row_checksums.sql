-- CRC-32 of the other columns of a row, see `row-checksum.ts`. NULL for a row that was not written since.
ALTER TABLE runs ADD COLUMN row_checksum INTEGER;
ALTER TABLE results ADD COLUMN row_checksum INTEGER;
-- Handles that were given and went with a damaged log: where there are any, the numbers of results have gaps.
ALTER TABLE runs ADD COLUMN lost_numbers INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tools ADD COLUMN row_checksum INTEGER;

-- Second ways to find rows, for the case that a damaged page of the first hides one: only what both miss is not there. Those of
-- results have only rows with a copy's id or a key, which are few.
CREATE INDEX runs_again ON runs (tenant, run, state);
CREATE INDEX results_by_key_again ON results (run, idempotency_key, number) WHERE idempotency_key IS NOT NULL;
CREATE INDEX copies_by_id ON results (run, evidence_id, number)
WHERE tool_use_id <> '' AND evidence_id <> tool_use_id;
CREATE INDEX copies_by_call ON results (run, tool_use_id, number)
WHERE tool_use_id <> '' AND evidence_id <> tool_use_id;
