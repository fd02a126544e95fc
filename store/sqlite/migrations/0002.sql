-- When the first job came into a pool; 0 for pools from before this was kept.
ALTER TABLE pool ADD COLUMN since INTEGER NOT NULL DEFAULT 0;

-- What administrators, and files, changed. Rows are only ever added.
CREATE TABLE audit (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  at      INTEGER NOT NULL,
  who     TEXT NOT NULL,
  source  TEXT NOT NULL, -- from where
  what    TEXT NOT NULL,
  subject TEXT NOT NULL,
  old     TEXT NOT NULL,
  new     TEXT NOT NULL,
  refused INTEGER NOT NULL,
  note    TEXT NOT NULL
);
