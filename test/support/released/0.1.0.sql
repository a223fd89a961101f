PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE migrations (position INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL) STRICT;
INSERT INTO migrations VALUES(0,'0001-first','33cd5706b79563032509a15aa74d073ae5f7996a56aacb6394eecc89ded5bc4e');
CREATE TABLE accounts (
  id TEXT PRIMARY KEY NOT NULL,
  name TEXT NOT NULL,
  standing TEXT NOT NULL CHECK (standing IN ('active', 'guest', 'restricted')),
  subscribed_until INTEGER,
  priority INTEGER NOT NULL,
  limits TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
INSERT INTO accounts VALUES('01a1fe68-8dbc-769d-a362-59ba43d7e6c7','acme','active',NULL,5,'{"creates_per_hour":200}',1795165201000);
CREATE TABLE workspaces (
  id TEXT PRIMARY KEY NOT NULL,
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
INSERT INTO workspaces VALUES('01a1fe68-8dc6-74c5-a04d-906a9ceb2a7b','01a1fe68-8dbc-769d-a362-59ba43d7e6c7','calls',1795165203000);
CREATE TABLE api_keys (
  id TEXT PRIMARY KEY NOT NULL,
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  workspace_id TEXT REFERENCES workspaces (id),
  name TEXT NOT NULL,
  hint TEXT NOT NULL,
  hash TEXT NOT NULL,
  scopes TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER,
  last_used_at INTEGER,
  replaced_by TEXT
) STRICT;
INSERT INTO api_keys VALUES('01a1fe68-8dc9-7712-8e81-26c6a3914a16','01a1fe68-8dbc-769d-a362-59ba43d7e6c7',NULL,'released','trs_LEWtDv','07176e922f17fb46b0dd3db3f907e7ce71da68bb2eabf9b704015407c995fa78','["transcriptions:read","transcriptions:write","transcriptions:delete"]',1795165204000,NULL,NULL,NULL,NULL);
INSERT INTO api_keys VALUES('01a1fe68-8dcb-74c3-9d48-0240047a8120','01a1fe68-8dbc-769d-a362-59ba43d7e6c7','01a1fe68-8dc6-74c5-a04d-906a9ceb2a7b','old','trs_wgBRCR','179876ea1009170739287e2762179cf2f682a2734c2f3e906447d1dc858fcfe1','["transcriptions:read","transcriptions:write","transcriptions:delete"]',1795165205000,1796165204000,1795165206000,NULL,NULL);
CREATE TABLE recordings (
  id TEXT PRIMARY KEY NOT NULL,
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  workspace_id TEXT REFERENCES workspaces (id),
  status TEXT NOT NULL CHECK (status IN ('queued', 'processing', 'completed', 'failed')),
  pinned_language TEXT,
  language TEXT,
  source_name TEXT,
  source_url TEXT,
  size_bytes INTEGER,
  duration_seconds REAL,
  step TEXT,
  percent INTEGER,
  failure_reason TEXT,
  failure_cause TEXT,
  held_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
INSERT INTO recordings VALUES('01a1fdbb-a5b1-7058-8ea9-0c142185cff1','01a1fe68-8dbc-769d-a362-59ba43d7e6c7',NULL,'completed',NULL,'en','talk',NULL,1000,3.2000000000000001776,NULL,100,NULL,NULL,NULL,1795165207000,1795165210000);
INSERT INTO recordings VALUES('01a1fdbb-a5b1-7058-8ea9-0c142185cff2','01a1fe68-8dbc-769d-a362-59ba43d7e6c7','01a1fe68-8dc6-74c5-a04d-906a9ceb2a7b','processing','de','de','talk',NULL,1000,NULL,'transcribe',40,NULL,NULL,NULL,1795165211000,1795165213000);
INSERT INTO recordings VALUES('01a1fdbb-a5b1-7058-8ea9-0c142185cff3','01a1fe68-8dbc-769d-a362-59ba43d7e6c7',NULL,'queued',NULL,NULL,NULL,'https://example.org/talk.mp3',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795165214000,1795165214000);
INSERT INTO recordings VALUES('01a1fdbb-a5b1-7058-8ea9-0c142185cff4','01a1fe68-8dbc-769d-a362-59ba43d7e6c7',NULL,'failed',NULL,NULL,'talk',NULL,1000,NULL,NULL,NULL,'internal','fetch_blocked_address',1795165217000,1795165215000,1795165216000);
CREATE TABLE kept_answers (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  workspace_id TEXT NOT NULL,
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  status INTEGER NOT NULL,
  body TEXT,
  recording_id TEXT,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (account_id, workspace_id, key)
) STRICT, WITHOUT ROWID;
INSERT INTO kept_answers VALUES('01a1fe68-8dbc-769d-a362-59ba43d7e6c7','','k-1','abababababababababababababababababababababababababababababababab',201,'{}','01a1fdbb-a5b1-7058-8ea9-0c142185cff1',1795165217000);
CREATE TABLE creates (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL
) STRICT;
INSERT INTO creates VALUES('01a1fe68-8dbc-769d-a362-59ba43d7e6c7',1795165217000);
CREATE TABLE audio_usage (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  day TEXT NOT NULL,
  recording_id TEXT NOT NULL,
  seconds REAL NOT NULL,
  PRIMARY KEY (account_id, day, recording_id)
) STRICT, WITHOUT ROWID;
INSERT INTO audio_usage VALUES('01a1fe68-8dbc-769d-a362-59ba43d7e6c7','2026-11-20','01a1fdbb-a5b1-7058-8ea9-0c142185cff1',3.2000000000000001776);
CREATE TABLE audit_log (
  id INTEGER PRIMARY KEY NOT NULL,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  details TEXT NOT NULL
) STRICT;
INSERT INTO audit_log VALUES(1,1795165201000,'root','accounts.create','01a1fe68-8dbc-769d-a362-59ba43d7e6c7','{"name":"acme"}');
INSERT INTO audit_log VALUES(2,1795165202000,'root','accounts.change','01a1fe68-8dbc-769d-a362-59ba43d7e6c7','{"name":"acme","priority":5,"limits":{"creates_per_hour":200}}');
INSERT INTO audit_log VALUES(3,1795165203000,'root','workspaces.create','01a1fe68-8dc6-74c5-a04d-906a9ceb2a7b','{"account":"acme","name":"calls"}');
INSERT INTO audit_log VALUES(4,1795165204000,'root','keys.create','01a1fe68-8dc9-7712-8e81-26c6a3914a16','{"account":"acme","name":"released"}');
INSERT INTO audit_log VALUES(5,1795165205000,'root','keys.create','01a1fe68-8dcb-74c3-9d48-0240047a8120','{"account":"acme","name":"old"}');
INSERT INTO audit_log VALUES(6,1795165206000,'root','keys.revoke','01a1fe68-8dcb-74c3-9d48-0240047a8120','{"name":"old"}');
CREATE TABLE checkpoints (
  recording_id TEXT NOT NULL REFERENCES recordings (id) ON DELETE CASCADE,
  step TEXT NOT NULL,
  part INTEGER NOT NULL,
  payload TEXT NOT NULL,
  PRIMARY KEY (recording_id, step, part)
) STRICT, WITHOUT ROWID;
INSERT INTO checkpoints VALUES('01a1fdbb-a5b1-7058-8ea9-0c142185cff2','decode',0,'{"sampleCount":160000}');
CREATE TABLE segments (
  recording_id TEXT NOT NULL REFERENCES recordings (id) ON DELETE CASCADE,
  "index" INTEGER NOT NULL,
  start_milliseconds INTEGER NOT NULL,
  end_milliseconds INTEGER NOT NULL,
  speaker INTEGER NOT NULL,
  text TEXT NOT NULL,
  words TEXT NOT NULL,
  PRIMARY KEY (recording_id, "index")
) STRICT, WITHOUT ROWID;
INSERT INTO segments VALUES('01a1fdbb-a5b1-7058-8ea9-0c142185cff1',0,0,1200,0,'Guten Morgen – 你好.','[[" Guten Morgen – 你好.",0,1200,0.93]]');
INSERT INTO segments VALUES('01a1fdbb-a5b1-7058-8ea9-0c142185cff1',1,1500,2700,1,'It''s the second speaker''s turn.','[[" It''s the second speaker''s turn.",1500,2700,0.93]]');
CREATE UNIQUE INDEX accounts_name ON accounts (name);
CREATE UNIQUE INDEX workspaces_name ON workspaces (account_id, name);
CREATE UNIQUE INDEX api_keys_hash ON api_keys (hash);
CREATE INDEX api_keys_account ON api_keys (account_id);
CREATE INDEX recordings_account_id ON recordings (account_id, id);
CREATE INDEX recordings_account_status ON recordings (account_id, status, id);
CREATE INDEX recordings_status ON recordings (status, id);
CREATE INDEX kept_answers_created ON kept_answers (created_at);
CREATE INDEX kept_answers_recording ON kept_answers (recording_id);
CREATE INDEX creates_account ON creates (account_id, created_at);
CREATE INDEX audio_usage_recording ON audio_usage (recording_id);
COMMIT;
