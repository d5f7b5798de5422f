-- Number of a run's tools, and UTF-8 bytes of their names and schemas, so that limits and lists
-- need not read the tools.
ALTER TABLE runs ADD COLUMN tool_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN tool_bytes INTEGER NOT NULL DEFAULT 0;

UPDATE runs
SET tool_count = totals.count, tool_bytes = totals.bytes
FROM (
  SELECT run, count(*) AS count, sum(octet_length(name) + octet_length(input_schema)) AS bytes
  FROM tools
  GROUP BY run
) AS totals
WHERE runs.key = totals.run;
