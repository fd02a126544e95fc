-- What the current or last attempt of a task is charged each second; 0 is what it takes of
-- the unit. The column of job is that of the only task of a job that has one.
ALTER TABLE job ADD COLUMN charge REAL NOT NULL DEFAULT 0;
ALTER TABLE task ADD COLUMN charge REAL NOT NULL DEFAULT 0;
