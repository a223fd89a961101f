-- The end of its processing, from which retention counts. Later changes of a recording do not move it.
ALTER TABLE recordings ADD COLUMN ended_at INTEGER;
UPDATE recordings SET ended_at = updated_at WHERE status IN ('completed', 'failed');
