-- A recording that is processed again: a hidden recording without audio of its own, whose transcript becomes a revision
-- of another one.
ALTER TABLE recordings ADD COLUMN rerun_of TEXT REFERENCES recordings (id) ON DELETE CASCADE;
ALTER TABLE recordings ADD COLUMN rerun_by TEXT;
CREATE UNIQUE INDEX recordings_rerun ON recordings (rerun_of) WHERE rerun_of IS NOT NULL;
