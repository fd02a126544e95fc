-- Everything is in one schema, whose name stands for @ in this text.

-- Ids of jobs. They grow and are never used again.
CREATE SEQUENCE @.job_id AS bigint;

-- By which clock usage is counted; the row with the highest id is in force. Changes to
-- accounts name the clock of their amounts: factor is what those are multiplied by to be
-- amounts of the clock in force, so that nobody has to wait for anybody when it changes.
CREATE TABLE @.clock (
  id        integer PRIMARY KEY,
  half_life bigint NOT NULL, -- ns; 0: nothing decays
  reference bigint NOT NULL,
  factor    double precision NOT NULL DEFAULT 1,
  days      integer NOT NULL DEFAULT 0 -- how many days are kept
);

-- Pools, with what they received and hold: what was rolled up of delta. used, seen and
-- length are amounts of the clock in force; length/seen is the mean length of tasks.
CREATE TABLE @.pool (
  id      integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  path    text NOT NULL UNIQUE,
  since   bigint NOT NULL,
  waiting bigint NOT NULL DEFAULT 0,
  running bigint NOT NULL DEFAULT 0,
  used    double precision NOT NULL DEFAULT 0, -- slot-seconds
  seen    double precision NOT NULL DEFAULT 0,
  length  double precision NOT NULL DEFAULT 0, -- seconds times seen
  total   double precision NOT NULL DEFAULT 0, -- slot-seconds
  ended   bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

-- Changes to the counters and accounts of pools, appended by the transactions that cause
-- them, so that the row of a busy pool is not fought over: an element of each for a pool. What
-- changes for none of the pools is NULL.
CREATE TABLE @.delta (
  clock   integer NOT NULL,
  pools   integer[] NOT NULL,
  waiting bigint[],
  running bigint[],
  used    double precision[],
  seen    double precision[],
  length  double precision[],
  total   double precision[],
  ended   bigint[]
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

-- What pools received on each day since 1970, UTC, and changes to that.
CREATE TABLE @.day (
  pool integer NOT NULL,
  day  bigint NOT NULL,
  used double precision NOT NULL,
  PRIMARY KEY (pool, day)
) WITH (fillfactor = 50);
CREATE TABLE @.day_delta (pool integer NOT NULL, day bigint NOT NULL, used double precision NOT NULL);

-- Jobs that have not ended. Times are nanoseconds since 1970, 0 is none. What may be NULL is 0, or
-- empty, then: most of it is so for most jobs, and takes no room. The columns from
-- attempt on are those of the only task of a job that has one; those of arrays and gangs
-- are in task. Nothing that changes is indexed, so that an update touches no index: if there is
-- room on its page for a second version of each row, as all of them may start in one transaction.
CREATE TABLE @.job (
  id        bigint PRIMARY KEY,
  pool      integer NOT NULL,
  state     smallint NOT NULL, -- 0 held 1 blocked 2 waiting 3 running 4 succeeded 5 failed 6 cancelled 7 queued
  username  text NOT NULL,
  kind      text NOT NULL,
  priority  text NOT NULL,
  spec      bytea NOT NULL, -- JSON: what hardly ever changes and is not searched for; empty: nothing of that
  payload   bytea,
  not_before bigint,
  most      integer,
  tasks     integer NOT NULL,
  next      integer, -- first task that never started
  returned  integer, -- tasks that wait again
  held      boolean,
  pending   integer,
  cancel    boolean,
  waiting   integer NOT NULL,
  running   integer,
  queued    integer, -- of running: wait in another queueing system
  succeeded integer,
  failed    integer,
  cancelled integer,
  submitted bigint NOT NULL,
  started   bigint,
  ended     bigint,
  cause     text,

  attempt   integer,
  holder    text,
  t_state   smallint NOT NULL DEFAULT 2,
  t_begin   bigint,
  t_started bigint,
  t_ended   bigint,
  fails     integer,
  losses    integer,
  again     smallint,
  outcome   text, -- JSON; ok for a plain success
  charge    double precision,
  until     bigint -- of the lease, while it runs
) WITH (fillfactor = 45, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE @.job ALTER COLUMN spec SET STORAGE EXTERNAL, ALTER COLUMN payload SET STORAGE EXTERNAL;

-- Jobs that have ended.
CREATE TABLE @.ended (LIKE @.job INCLUDING DEFAULTS INCLUDING STORAGE, PRIMARY KEY (id))
  WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0);

-- In which order they are forgotten: a row for those that ended in one transaction, in the place of
-- an index that each of them is entered in. They may have been requeued since.
CREATE TABLE @.ending (
  id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at   bigint NOT NULL,
  jobs bigint[] NOT NULL
);
CREATE INDEX ending_at ON @.ending (at);

-- Tasks of arrays and gangs that have started at least once.
CREATE TABLE @.task (
  job       bigint NOT NULL,
  idx       integer NOT NULL,
  attempt   integer NOT NULL,
  holder    text NOT NULL,
  t_state   smallint NOT NULL,
  t_begin   bigint NOT NULL,
  t_started bigint NOT NULL,
  t_ended   bigint NOT NULL,
  fails     integer NOT NULL,
  losses    integer NOT NULL,
  again     smallint NOT NULL,
  outcome   text NOT NULL,
  charge    double precision NOT NULL,
  until     bigint NOT NULL DEFAULT 0, -- of the lease, while it runs
  PRIMARY KEY (job, idx)
) WITH (fillfactor = 70, autovacuum_vacuum_cost_delay = 0);

-- Which jobs to look at when leases run out: a row for each call that granted leases, or renewed
-- them, in the place of an index of job and task that every start and every end would write to. Until
-- when a lease is, and whether there is one still, only those say. As long as there is one, there is a
-- row here that names its job and is due at the same instant.
CREATE TABLE @.lease (
  id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  until  bigint NOT NULL,
  holder text NOT NULL,
  jobs   bigint[] NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX lease_until ON @.lease (until, id);

-- What running tasks hold of what is limited for all.
CREATE TABLE @.holding (
  job   bigint NOT NULL,
  task  integer NOT NULL,
  holds jsonb NOT NULL, -- keys of toll, and how much of each
  PRIMARY KEY (job, task)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

-- What starts are subject to, whichever server starts them. Who looks at what a key stands for
-- locks its row first; keys are locked in their order. Of a rate the row keeps where it stands:
-- the limit, since when the bucket was full, what was taken since, and when that was written.
-- Of what running tasks hold it keeps the sum, in which what is freed counts still.
CREATE TABLE @.toll (
  key      text PRIMARY KEY,
  held     bigint NOT NULL DEFAULT 0,
  count    bigint NOT NULL DEFAULT 0,
  per      bigint NOT NULL DEFAULT 0,
  burst    bigint NOT NULL DEFAULT 0,
  full_at  bigint NOT NULL DEFAULT 0,
  taken    bigint NOT NULL DEFAULT 0,
  taken_at bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

-- What running tasks held that have ended, appended in whichever way they end, so that none of
-- them waits for a row of toll. Who locks that takes it from here.
CREATE TABLE @.freed (
  key    text NOT NULL,
  amount bigint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX freed_key ON @.freed (key);
CREATE FUNCTION @.free() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
  INSERT INTO @.freed (key, amount) SELECT h.key, h.value::bigint FROM jsonb_each_text(OLD.holds) AS h;
  RETURN NULL;
END $body$;
CREATE TRIGGER free AFTER DELETE ON @.holding FOR EACH ROW EXECUTE FUNCTION @.free();

-- Idempotency keys.
CREATE TABLE @.jobkey (
  username text NOT NULL,
  key      text NOT NULL,
  job      bigint NOT NULL,
  CONSTRAINT jobkey_once PRIMARY KEY (username, key)
);
CREATE INDEX jobkey_job ON @.jobkey (job);

-- Dependencies on jobs that have not ended, and of those that ended before them or with them.
CREATE TABLE @.depends (
  on_job bigint NOT NULL,
  job    bigint NOT NULL,
  PRIMARY KEY (on_job, job)
);

-- Dependencies that were written in transactions of others, in which the job may have ended
-- before they were to be seen.
CREATE TABLE @.late (on_job bigint NOT NULL, job bigint NOT NULL);

-- The latest changes, one row for each transaction. Readers remember by a snapshot which
-- transactions they have seen, and so miss none that commits late.
CREATE TABLE @.feed (
  xid     xid8 NOT NULL DEFAULT pg_current_xact_id(),
  seq     bigint GENERATED ALWAYS AS IDENTITY,
  origin  bigint NOT NULL DEFAULT 0, -- the store that wrote it
  changes bytea NOT NULL -- see wire.go
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE @.feed ALTER COLUMN changes SET STORAGE EXTERNAL;
CREATE INDEX feed_xid ON @.feed (xid);

-- The servers that share the store, and until when they are taken to be there.
CREATE TABLE @.server (
  name  text PRIMARY KEY,
  seen  bigint NOT NULL,
  until bigint NOT NULL,
  said  bytea NOT NULL -- JSON
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);

-- What one of them does for all.
CREATE TABLE @.duty (
  name   text PRIMARY KEY,
  server text NOT NULL,
  until  bigint NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);

-- Which changes every reader has seen that is not too far behind: those visible in the
-- older of these snapshots. Whoever is further behind has to take a new snapshot of all.
CREATE TABLE @.feed_kept (
  at   bigint NOT NULL,
  seen pg_snapshot NOT NULL,
  last bigint NOT NULL -- the highest seq in it
);

-- What happened to jobs, beyond what their rows say.
CREATE TABLE @.event (
  id   bigint GENERATED ALWAYS AS IDENTITY,
  job  bigint NOT NULL,
  task integer NOT NULL,
  at   bigint NOT NULL,
  code text NOT NULL,
  text text NOT NULL,
  PRIMARY KEY (job, id)
);

-- Attempts that the scheduler ended early so that others got their room.
CREATE TABLE @.stop (
  id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  job     bigint NOT NULL,
  task    integer NOT NULL,
  attempt integer NOT NULL,
  at      bigint NOT NULL,
  reason  text NOT NULL -- JSON: the rule, its numbers, the price
);
CREATE INDEX stop_job ON @.stop (job);
CREATE INDEX stop_at ON @.stop (at);

-- Named values of the program that uses the store.
CREATE TABLE @.setting (
  key   text PRIMARY KEY,
  value text NOT NULL
);

-- What administrators, and files, changed. Rows are only ever added.
CREATE TABLE @.audit (
  id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at      bigint NOT NULL,
  who     text NOT NULL,
  source  text NOT NULL,
  what    text NOT NULL,
  subject text NOT NULL,
  old     text NOT NULL,
  new     text NOT NULL,
  refused boolean NOT NULL,
  note    text NOT NULL
);

-- How pools fared: blocks of steps, for each level of resolution and pool; see package past.
CREATE TABLE @.history (
  level smallint NOT NULL,
  block bigint NOT NULL,
  pool  text NOT NULL,
  steps bytea NOT NULL,
  PRIMARY KEY (level, block, pool)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE @.history ALTER COLUMN steps SET STORAGE EXTERNAL;

-- scaled multiplies without the errors that PostgreSQL makes of results next to 0.
CREATE FUNCTION @.scaled(amount double precision, factor double precision) RETURNS double precision
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  AS 'SELECT CASE WHEN abs(amount) < 1e-150 OR abs(factor) < 1e-150 THEN 0 ELSE amount * factor END';
