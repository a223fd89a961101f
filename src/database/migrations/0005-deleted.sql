-- Since when a recording is being removed, which takes a while where it is days long; nobody sees it then.
ALTER TABLE recordings ADD COLUMN deleted_at INTEGER;
CREATE INDEX recordings_deleted ON recordings (deleted_at) WHERE deleted_at IS NOT NULL;
