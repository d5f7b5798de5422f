-- CRC-32 of the other columns of a chunk, see `places.ts`; its bytes are in it by their own. NULL for one that was kept before.
ALTER TABLE chunks ADD COLUMN place_checksum INTEGER;
