-- Whether a client waits for the transcript, after which nothing of the recording is kept.
ALTER TABLE recordings ADD COLUMN is_transient INTEGER NOT NULL DEFAULT 0;
CREATE INDEX recordings_transient ON recordings (is_transient) WHERE is_transient = 1;
