-- What pools received on each day, where a policy counts days.
CREATE TABLE day (
  pool INTEGER NOT NULL,
  day  INTEGER NOT NULL, -- since 1970, UTC
  used REAL NOT NULL,    -- slot-seconds
  PRIMARY KEY (pool, day)
) WITHOUT ROWID;
