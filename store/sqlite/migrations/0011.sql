-- Which nodes on other machines may join, and by which key they are known.
CREATE TABLE IF NOT EXISTS permit (
  node    TEXT PRIMARY KEY,
  bounds  TEXT NOT NULL, -- JSON
  key     TEXT NOT NULL DEFAULT '', -- hash of the node's public key
  maker   TEXT NOT NULL,
  made    INTEGER NOT NULL,
  joined  INTEGER NOT NULL DEFAULT 0,
  revoked INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;

-- Tokens by which nodes join, once. The secret itself is not kept.
CREATE TABLE IF NOT EXISTS join_token (
  id    TEXT PRIMARY KEY,
  hash  TEXT NOT NULL,
  node  TEXT NOT NULL,
  until INTEGER NOT NULL,
  used  TEXT NOT NULL DEFAULT '' -- hash of the key that used it
) WITHOUT ROWID;
