-- Tags that applications give to recordings. The account and the id of the recording order a list of those with a tag.
CREATE TABLE recording_tags (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  tag TEXT NOT NULL,
  recording_id TEXT NOT NULL REFERENCES recordings (id) ON DELETE CASCADE,
  PRIMARY KEY (account_id, tag, recording_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX recording_tags_recording ON recording_tags (recording_id);
