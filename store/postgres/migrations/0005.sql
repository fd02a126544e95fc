-- Which nodes on other machines may join, and by which key they are known.
CREATE TABLE IF NOT EXISTS @.permit (
  node    text PRIMARY KEY,
  bounds  text NOT NULL, -- JSON
  key     text NOT NULL DEFAULT '', -- hash of the node's public key
  maker   text NOT NULL,
  made    bigint NOT NULL,
  joined  bigint NOT NULL DEFAULT 0,
  revoked bigint NOT NULL DEFAULT 0
);

-- Tokens by which nodes join, once. The secret itself is not kept.
CREATE TABLE IF NOT EXISTS @.join_token (
  id    text PRIMARY KEY,
  hash  text NOT NULL,
  node  text NOT NULL,
  until bigint NOT NULL,
  used  text NOT NULL DEFAULT '' -- hash of the key that used it
);
