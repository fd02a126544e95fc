-- The ledger of a bridge: one row for each task that the queueing system has, or may have.
CREATE TABLE entry (
	seq INTEGER PRIMARY KEY,      -- grows; the number by which the book knows it
	marker TEXT NOT NULL UNIQUE,  -- by which the submission is found again
	job INTEGER NOT NULL,
	task INTEGER NOT NULL,
	attempt INTEGER NOT NULL,     -- of the latest lease
	lease TEXT NOT NULL,          -- JSON, as it was first had, with attempt and since of the latest
	priority INTEGER NOT NULL,
	decision TEXT NOT NULL,       -- JSON, or empty
	held TEXT NOT NULL,           -- JSON, or empty: what the book knows of it
	stage INTEGER NOT NULL,       -- 0 intent, 1 sent, 2 ended
	id TEXT NOT NULL DEFAULT '',  -- in the queueing system
	submitted INTEGER NOT NULL,   -- milliseconds since 1970, as all instants
	began INTEGER NOT NULL DEFAULT 0,
	forgot INTEGER NOT NULL DEFAULT 0,
	ended TEXT NOT NULL DEFAULT ''  -- JSON: how, as the server is told
) STRICT;

CREATE TABLE keep (
	name TEXT PRIMARY KEY,
	value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
