-- Where the rates stand under which something started: the limit, since when the bucket was
-- full, what was taken since, and when that was written. Times are nanoseconds since 1970.
CREATE TABLE rate (
  name  TEXT PRIMARY KEY,
  count INTEGER NOT NULL,
  per   INTEGER NOT NULL,
  burst INTEGER NOT NULL,
  full  INTEGER NOT NULL,
  taken INTEGER NOT NULL,
  at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
