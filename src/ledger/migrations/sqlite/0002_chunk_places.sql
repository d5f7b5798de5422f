-- CRC-32 of the other columns of a chunk, see `chunk-integrity.ts`. It covers the bytes by their
-- own checksum. NULL for a chunk that was stored before.
ALTER TABLE chunks ADD COLUMN place_checksum INTEGER;
