-- Of what was submitted with the key; empty for keys from before this was kept.
ALTER TABLE jobkey ADD COLUMN digest TEXT NOT NULL DEFAULT '';
