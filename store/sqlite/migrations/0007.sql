-- How pools fared: blocks of steps, for each level of resolution and pool; see package past.
CREATE TABLE history (
  level INTEGER NOT NULL,
  block INTEGER NOT NULL,
  pool  TEXT NOT NULL,
  steps BLOB NOT NULL,
  PRIMARY KEY (level, block, pool)
) STRICT;
