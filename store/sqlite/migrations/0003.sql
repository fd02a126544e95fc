-- Attempts that the scheduler ended early so that others got their room.
CREATE TABLE stop (
  id      INTEGER PRIMARY KEY,
  job     INTEGER NOT NULL,
  task    INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  at      INTEGER NOT NULL,
  reason  TEXT NOT NULL -- JSON: the rule, its numbers, the price
);
CREATE INDEX stop_job ON stop (job);
CREATE INDEX stop_at ON stop (at);
