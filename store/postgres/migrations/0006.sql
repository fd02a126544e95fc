-- Tokens of programs. The secret itself is not kept.
CREATE TABLE IF NOT EXISTS @.token (
  id      text PRIMARY KEY,
  hash    text NOT NULL,
  owner   text NOT NULL,
  uid     bigint NOT NULL,
  scopes  text NOT NULL, -- JSON
  pools   text NOT NULL, -- JSON
  note    text NOT NULL,
  maker   text NOT NULL,
  made    bigint NOT NULL,
  expires bigint NOT NULL,
  used    bigint NOT NULL DEFAULT 0,
  revoked bigint NOT NULL DEFAULT 0
);
