-- The files of a folder that wait because they seem to be incomplete.
ALTER TABLE folders ADD COLUMN incomplete TEXT NOT NULL DEFAULT '[]';
