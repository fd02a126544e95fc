-- Settings that belong to the data: the half-life of usage and its reference.
CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

-- Pools, with what they received. used and seen are as of meta's reference (forward
-- decay), total is not decayed. Counters of waiting and running tasks follow from job.
CREATE TABLE pool (
  id    INTEGER PRIMARY KEY,
  path  TEXT NOT NULL UNIQUE,
  used  REAL NOT NULL DEFAULT 0, -- slot-seconds
  mean  REAL NOT NULL DEFAULT 0, -- seconds
  seen  REAL NOT NULL DEFAULT 0,
  total REAL NOT NULL DEFAULT 0, -- slot-seconds
  ended INTEGER NOT NULL DEFAULT 0
);

-- Requests, one row for each different one.
CREATE TABLE shape (
  id      INTEGER PRIMARY KEY,
  request TEXT NOT NULL UNIQUE -- JSON object, names sorted
);

-- Jobs. Times are nanoseconds since 1970, 0 is none. The columns from attempt on are
-- those of the only task of a job that has one; those of arrays are in task.
CREATE TABLE job (
  id        INTEGER PRIMARY KEY AUTOINCREMENT,
  pool      INTEGER NOT NULL,
  shape     INTEGER NOT NULL,
  open      INTEGER DEFAULT 1, -- NULL when the job has ended
  state     INTEGER NOT NULL, -- 0 held 1 blocked 2 waiting 3 running 4 succeeded 5 failed 6 cancelled 7 queued
  user      TEXT NOT NULL,
  kind      TEXT NOT NULL,
  priority  TEXT NOT NULL,
  spec      BLOB NOT NULL,    -- JSON: what never changes and is not searched for
  begin     INTEGER NOT NULL,
  most      INTEGER NOT NULL,
  tasks     INTEGER NOT NULL,
  next      INTEGER NOT NULL, -- first task that never started
  returned  INTEGER NOT NULL DEFAULT 0, -- tasks that wait again
  held      INTEGER NOT NULL,
  pending   INTEGER NOT NULL,
  cancel    INTEGER NOT NULL DEFAULT 0,
  waiting   INTEGER NOT NULL,
  running   INTEGER NOT NULL DEFAULT 0,
  queued    INTEGER NOT NULL DEFAULT 0, -- of running: wait in another queueing system
  succeeded INTEGER NOT NULL DEFAULT 0,
  failed    INTEGER NOT NULL DEFAULT 0,
  cancelled INTEGER NOT NULL DEFAULT 0,
  submitted INTEGER NOT NULL,
  started   INTEGER NOT NULL DEFAULT 0,
  ended     INTEGER NOT NULL DEFAULT 0,
  cause     TEXT NOT NULL DEFAULT '',

  attempt   INTEGER NOT NULL DEFAULT 0,
  holder    TEXT NOT NULL DEFAULT '',
  t_state   INTEGER NOT NULL DEFAULT 2,
  t_begin   INTEGER NOT NULL DEFAULT 0,
  t_started INTEGER NOT NULL DEFAULT 0,
  t_ended   INTEGER NOT NULL DEFAULT 0,
  fails     INTEGER NOT NULL DEFAULT 0,
  losses    INTEGER NOT NULL DEFAULT 0,
  requeue   INTEGER NOT NULL DEFAULT 0,
  outcome   TEXT NOT NULL DEFAULT ''  -- JSON; ok for a plain success
);
CREATE INDEX job_open ON job (id) WHERE open = 1;

-- Tasks of arrays that have started at least once.
CREATE TABLE task (
  job       INTEGER NOT NULL,
  idx       INTEGER NOT NULL,
  attempt   INTEGER NOT NULL,
  holder    TEXT NOT NULL,
  t_state   INTEGER NOT NULL,
  t_begin   INTEGER NOT NULL,
  t_started INTEGER NOT NULL,
  t_ended   INTEGER NOT NULL,
  fails     INTEGER NOT NULL,
  losses    INTEGER NOT NULL,
  requeue   INTEGER NOT NULL,
  outcome   TEXT NOT NULL,
  PRIMARY KEY (job, idx)
) WITHOUT ROWID;
CREATE INDEX task_open ON task (job, t_state, idx) WHERE t_state IN (2, 3);

-- Idempotency keys.
CREATE TABLE jobkey (
  user TEXT NOT NULL,
  key  TEXT NOT NULL,
  job  INTEGER NOT NULL,
  PRIMARY KEY (user, key)
) WITHOUT ROWID;
CREATE INDEX jobkey_job ON jobkey (job);

-- Dependencies on jobs that have not ended.
CREATE TABLE depends (
  on_job INTEGER NOT NULL,
  job    INTEGER NOT NULL,
  PRIMARY KEY (on_job, job)
) WITHOUT ROWID;

-- What happened to jobs, beyond what their rows say.
CREATE TABLE event (
  id   INTEGER PRIMARY KEY,
  job  INTEGER NOT NULL,
  task INTEGER NOT NULL,
  at   INTEGER NOT NULL,
  code TEXT NOT NULL,
  text TEXT NOT NULL
);
CREATE INDEX event_job ON event (job);
