-- The table of licenses and rates, under the name that the code has for the two.
ALTER TABLE IF EXISTS @.toll RENAME TO quota;
