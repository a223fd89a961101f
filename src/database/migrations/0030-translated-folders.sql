-- Folders whose recordings are translated to English as well.
ALTER TABLE folders ADD COLUMN is_translated INTEGER NOT NULL DEFAULT 0;
-- Recordings whose texts in the search index are former ones, because a correction has replaced many of them.
ALTER TABLE searchable_recordings ADD COLUMN is_stale INTEGER NOT NULL DEFAULT 0;
