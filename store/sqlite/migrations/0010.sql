-- The pools of users have other names; see names.go, which takes this mark away.
INSERT OR REPLACE INTO meta (key, value) VALUES ('old_names', 1);
