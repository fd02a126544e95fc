-- Whose job made a pool; empty for pools from before this was kept.
ALTER TABLE @.pool ADD COLUMN maker text NOT NULL DEFAULT '';
