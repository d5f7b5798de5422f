-- CRC-32 of the other columns of a row, see `row-checksum.ts`. NULL for a row that was not written
-- since.
ALTER TABLE runs ADD COLUMN row_checksum INTEGER;
ALTER TABLE results ADD COLUMN row_checksum INTEGER;
-- Number of handles that were lost with a damaged log. When it is not 0, the numbers of the run's
-- results have gaps.
ALTER TABLE runs ADD COLUMN lost_numbers INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tools ADD COLUMN row_checksum INTEGER;

-- Second indexes, for the case that a damaged page of a first index hides a row. A row is taken as
-- absent only when both miss it. Those of results hold only rows with a copied id or with a key,
-- which are few.
CREATE INDEX runs_again ON runs (tenant, run, state);
CREATE INDEX results_by_key_again ON results (run, idempotency_key, number) WHERE idempotency_key IS NOT NULL;
CREATE INDEX copies_by_id ON results (run, evidence_id, number)
WHERE tool_use_id <> '' AND evidence_id <> tool_use_id;
CREATE INDEX copies_by_call ON results (run, tool_use_id, number)
WHERE tool_use_id <> '' AND evidence_id <> tool_use_id;
