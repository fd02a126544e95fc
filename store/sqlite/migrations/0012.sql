-- Tokens of programs. The secret itself is not kept.
CREATE TABLE IF NOT EXISTS token (
  id      TEXT PRIMARY KEY,
  hash    TEXT NOT NULL,
  owner   TEXT NOT NULL,
  uid     INTEGER NOT NULL,
  scopes  TEXT NOT NULL, -- JSON
  pools   TEXT NOT NULL, -- JSON
  note    TEXT NOT NULL,
  maker   TEXT NOT NULL,
  made    INTEGER NOT NULL,
  expires INTEGER NOT NULL,
  used    INTEGER NOT NULL DEFAULT 0,
  revoked INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
