PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE migrations (position INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL) STRICT;
INSERT INTO migrations VALUES(0,'0001-first','33cd5706b79563032509a15aa74d073ae5f7996a56aacb6394eecc89ded5bc4e');
INSERT INTO migrations VALUES(1,'0002-models','41dd481d74443af0759e82e1e551054d471f4c534784e8efb870bb008ac73e0e');
INSERT INTO migrations VALUES(2,'0003-versions','a09a9e4a6373c12ed9129d567f52babb3590c9984bb314f68fbc9217b0b62aee');
INSERT INTO migrations VALUES(3,'0004-vocabulary','ce8b5aad96abecc28a460732647b7a47a8b7783a6eb66608d2fc78c797c3ad01');
INSERT INTO migrations VALUES(4,'0005-deleted','ed1d1c6a3f2e2c97532df0afef3dc4b7ce5104389a2e4501cbb63ad65183fe76');
INSERT INTO migrations VALUES(5,'0006-growth','2424e10a5a36df1a02ecabe97d3259d82cacfb318154a64bdeab1a517ad07b8d');
INSERT INTO migrations VALUES(6,'0007-console','b6e71bf725d9ce8cf04aa5952a5c66bd2a67535ca0b0da463fcde21fcd8ffb24');
INSERT INTO migrations VALUES(7,'0008-hints','913d3dc359e282a53e4bdccb6504d951c3fdb616564f9b1c6fba6b4e49926e9d');
INSERT INTO migrations VALUES(8,'0009-machines','e2503dee271cf09eba4c40d5fd30e46ad9e141287ec3b2b07a5547f80e6e51dc');
INSERT INTO migrations VALUES(9,'0010-transient','173b121b95e1dae0d2bfcd7de47224362b8e937dbfd2c63581dbb6a47e03a67c');
INSERT INTO migrations VALUES(10,'0011-recording-models','f0b72f8d7e078ded96d419eac8a40f5c626020419e74a7ce134875aaeae15e01');
CREATE TABLE accounts (
  id TEXT PRIMARY KEY NOT NULL,
  name TEXT NOT NULL,
  standing TEXT NOT NULL CHECK (standing IN ('active', 'guest', 'restricted')),
  subscribed_until INTEGER,
  priority INTEGER NOT NULL,
  limits TEXT NOT NULL,
  created_at INTEGER NOT NULL
, vocabulary TEXT) STRICT;
INSERT INTO accounts VALUES('01a22220-1402-750d-9c93-c6494f2359ee','acme','active',NULL,0,'{}',1795683601000,NULL);
CREATE TABLE workspaces (
  id TEXT PRIMARY KEY NOT NULL,
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
INSERT INTO workspaces VALUES('01a22220-1408-7432-8f59-531847ae5b36','01a22220-1402-750d-9c93-c6494f2359ee','calls',1795683603000);
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
INSERT INTO api_keys VALUES('01a22220-1409-748d-b8de-97b174db2de2','01a22220-1402-750d-9c93-c6494f2359ee',NULL,'released','trs_0D3sen','dca2c7f335d72beae66f136cf3fad7441469030863269af1f05097c16b55fb3f','["transcriptions:read","transcriptions:write","transcriptions:delete"]',1795683605000,NULL,NULL,NULL,NULL);
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
, speech_model TEXT, speech_model_sha256 TEXT, vocabulary TEXT, deleted_at INTEGER, prompt TEXT, min_speakers INTEGER, max_speakers INTEGER, is_transient INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO recordings VALUES('01a21715-5df0-7001-8b92-43b8c515fd90','01a22220-1402-750d-9c93-c6494f2359ee','01a22220-1408-7432-8f59-531847ae5b36','queued',NULL,NULL,'talk',NULL,1000,NULL,NULL,NULL,NULL,NULL,NULL,1795683607000,1795683607000,'whisper-base',NULL,NULL,NULL,'Anna',2,4,0);
INSERT INTO recordings VALUES('01a21715-61d8-716e-a3f7-ffa881e70a44','01a22220-1402-750d-9c93-c6494f2359ee',NULL,'queued',NULL,NULL,NULL,'https://media.example.org/talk.mp3',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795683608000,1795683608000,'whisper-base',NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO recordings VALUES('01a21715-65c0-76d7-ba55-ce56d55ce472','01a22220-1402-750d-9c93-c6494f2359ee',NULL,'processing',NULL,NULL,'talk',NULL,1000,NULL,'transcribe',40,NULL,NULL,NULL,1795683609000,1795683611000,'whisper-base',NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO recordings VALUES('01a21715-7178-7331-8bc5-867ae8272647','01a22220-1402-750d-9c93-c6494f2359ee',NULL,'completed',NULL,'de','talk',NULL,1000,3.5,NULL,100,NULL,NULL,NULL,1795683612000,1795683615000,'whisper-base','0000000000000000000000000000000000000000000000000000000000000000',NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO recordings VALUES('01a21715-8118-73dd-9aa5-67fd7fd12d68','01a22220-1402-750d-9c93-c6494f2359ee',NULL,'failed',NULL,NULL,'talk',NULL,1000,NULL,NULL,NULL,'internal','input_unreadable',NULL,1795683616000,1795683617000,'whisper-base',NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO recordings VALUES('01a21715-88e8-75c0-b9fa-0fb634aae6ee','01a22220-1402-750d-9c93-c6494f2359ee',NULL,'failed',NULL,NULL,'talk',NULL,1000,NULL,NULL,NULL,'no_speech',NULL,1795683620000,1795683618000,1795683619000,'whisper-base',NULL,NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO recordings VALUES('01a21715-94a0-7201-beb9-c7f056c908ad','01a22220-1402-750d-9c93-c6494f2359ee',NULL,'queued',NULL,NULL,'talk',NULL,1000,NULL,NULL,NULL,NULL,NULL,NULL,1795683621000,1795683621000,'whisper-base',NULL,NULL,NULL,NULL,NULL,NULL,1);
INSERT INTO recordings VALUES('01a21715-9888-73c0-b9d7-c638578e03c4','01a22220-1402-750d-9c93-c6494f2359ee',NULL,'completed',NULL,'de','talk',NULL,1000,3.5,NULL,100,NULL,NULL,NULL,1795683622000,1795683625000,'whisper-base','0000000000000000000000000000000000000000000000000000000000000000',NULL,1795683626000,NULL,NULL,NULL,0);
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
INSERT INTO kept_answers VALUES('01a22220-1402-750d-9c93-c6494f2359ee','','once','ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',201,'{}','01a21715-5df0-7001-8b92-43b8c515fd90',1795683626000);
CREATE TABLE creates (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL
) STRICT;
INSERT INTO creates VALUES('01a22220-1402-750d-9c93-c6494f2359ee',1795683626000);
CREATE TABLE audio_usage (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  day TEXT NOT NULL,
  recording_id TEXT NOT NULL,
  seconds REAL NOT NULL,
  PRIMARY KEY (account_id, day, recording_id)
) STRICT, WITHOUT ROWID;
INSERT INTO audio_usage VALUES('01a22220-1402-750d-9c93-c6494f2359ee','2026-11-26','01a21715-7178-7331-8bc5-867ae8272647',3.5);
CREATE TABLE audit_log (
  id INTEGER PRIMARY KEY NOT NULL,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  details TEXT NOT NULL
) STRICT;
INSERT INTO audit_log VALUES(1,1795683602000,'operator','accounts.create','01a22220-1402-750d-9c93-c6494f2359ee','{"name":"acme"}');
INSERT INTO audit_log VALUES(2,1795683604000,'operator','workspaces.create','01a22220-1408-7432-8f59-531847ae5b36','{"account":"acme","name":"calls"}');
INSERT INTO audit_log VALUES(3,1795683606000,'operator','keys.create','01a22220-1409-748d-b8de-97b174db2de2','{"account":"acme","name":"released"}');
CREATE TABLE checkpoints (
  recording_id TEXT NOT NULL REFERENCES recordings (id) ON DELETE CASCADE,
  step TEXT NOT NULL,
  part INTEGER NOT NULL,
  payload TEXT NOT NULL,
  PRIMARY KEY (recording_id, step, part)
) STRICT, WITHOUT ROWID;
INSERT INTO checkpoints VALUES('01a21715-65c0-76d7-ba55-ce56d55ce472','detect',0,'{}');
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
INSERT INTO segments VALUES('01a21715-7178-7331-8bc5-867ae8272647',0,0,1500,0,'Guten Morgen – 你好.','[[" Guten",0,250,0.9],[" Morgen",250,500,0.9],[" –",500,750,0.9],[" 你好.",750,1000,0.9]]');
INSERT INTO segments VALUES('01a21715-7178-7331-8bc5-867ae8272647',1,2000,3500,1,'It''s the second speaker''s turn.','[[" It''s",2000,2200,0.9],[" the",2200,2400,0.9],[" second",2400,2600,0.9],[" speaker''s",2600,2800,0.9],[" turn.",2800,3000,0.9]]');
INSERT INTO segments VALUES('01a21715-9888-73c0-b9d7-c638578e03c4',0,0,1500,0,'Guten Morgen – 你好.','[[" Guten",0,250,0.9],[" Morgen",250,500,0.9],[" –",500,750,0.9],[" 你好.",750,1000,0.9]]');
INSERT INTO segments VALUES('01a21715-9888-73c0-b9d7-c638578e03c4',1,2000,3500,1,'It''s the second speaker''s turn.','[[" It''s",2000,2200,0.9],[" the",2200,2400,0.9],[" second",2400,2600,0.9],[" speaker''s",2600,2800,0.9],[" turn.",2800,3000,0.9]]');
CREATE TABLE chosen_models (
  kind TEXT PRIMARY KEY NOT NULL,
  model TEXT NOT NULL,
  chosen_at INTEGER NOT NULL
) STRICT;
CREATE TABLE versions (
  position INTEGER PRIMARY KEY NOT NULL,
  version TEXT NOT NULL,
  since INTEGER NOT NULL
) STRICT;
INSERT INTO versions VALUES(1,'0.3.0',1795868857338);
CREATE TABLE console_links (
  hash TEXT PRIMARY KEY NOT NULL,
  actor TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE TABLE console_sessions (
  hash TEXT PRIMARY KEY NOT NULL,
  actor TEXT NOT NULL,
  entered_by TEXT NOT NULL CHECK (entered_by IN ('link', 'password')),
  entered_at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL
) STRICT;
INSERT INTO console_sessions VALUES('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','operator','link',1795165201000,1795165201000);
CREATE TABLE console_password (
  id INTEGER PRIMARY KEY NOT NULL CHECK (id = 1),
  hash TEXT NOT NULL,
  set_at INTEGER NOT NULL
) STRICT;
CREATE TABLE speaker_names (
  recording_id TEXT NOT NULL REFERENCES recordings (id) ON DELETE CASCADE,
  speaker INTEGER NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (recording_id, speaker)
) STRICT, WITHOUT ROWID;
INSERT INTO speaker_names VALUES('01a21715-7178-7331-8bc5-867ae8272647',1,'Anna');
CREATE TABLE daily_work (
  day TEXT PRIMARY KEY NOT NULL,
  received_seconds REAL NOT NULL DEFAULT 0,
  completed_seconds REAL NOT NULL DEFAULT 0,
  completed INTEGER NOT NULL DEFAULT 0,
  failed INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
INSERT INTO daily_work VALUES('2026-11-26',7.0,7.0,2,2);
CREATE TABLE searchable_recordings (
  number INTEGER PRIMARY KEY NOT NULL,
  recording_id TEXT NOT NULL REFERENCES recordings (id) ON DELETE CASCADE,
  is_whole INTEGER NOT NULL
) STRICT;
INSERT INTO searchable_recordings VALUES(217846812000,'01a21715-7178-7331-8bc5-867ae8272647',1);
CREATE VIRTUAL TABLE searchable_texts USING fts5 (
  text, columnsize = 0, tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* Co'"
);
INSERT INTO searchable_texts(rowid,text) VALUES(456857877479424000,'guten morgen –  你  好 .');
INSERT INTO searchable_texts(rowid,text) VALUES(456857877479424001,'it''s the second speaker''s turn.');
INSERT INTO searchable_texts(rowid,text) VALUES(456857877481521151,'talk');
CREATE TABLE recording_machines (
  recording_id TEXT NOT NULL REFERENCES recordings (id) ON DELETE CASCADE,
  machine TEXT NOT NULL,
  parts INTEGER NOT NULL,
  PRIMARY KEY (recording_id, machine)
) STRICT, WITHOUT ROWID;
INSERT INTO recording_machines VALUES('01a21715-65c0-76d7-ba55-ce56d55ce472','north',1);
CREATE TABLE recording_models (
  recording_id TEXT NOT NULL REFERENCES recordings (id) ON DELETE CASCADE,
  model TEXT NOT NULL,
  parts INTEGER NOT NULL,
  PRIMARY KEY (recording_id, model)
) STRICT, WITHOUT ROWID;
INSERT INTO recording_models VALUES('01a21715-7178-7331-8bc5-867ae8272647','whisper-base',1);
INSERT INTO recording_models VALUES('01a21715-9888-73c0-b9d7-c638578e03c4','whisper-base',1);
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
CREATE INDEX recordings_deleted ON recordings (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX recordings_workspace ON recordings (workspace_id, status, id) WHERE workspace_id IS NOT NULL;
CREATE INDEX api_keys_workspace ON api_keys (workspace_id) WHERE workspace_id IS NOT NULL;
CREATE INDEX creates_created ON creates (created_at);
CREATE UNIQUE INDEX searchable_recordings_recording ON searchable_recordings (recording_id);
CREATE TRIGGER searchable_recordings_forget AFTER DELETE ON searchable_recordings BEGIN
  DELETE FROM searchable_texts WHERE rowid BETWEEN old.number << 21 AND (old.number << 21) + 2097151;
END;
CREATE INDEX recordings_transient ON recordings (is_transient) WHERE is_transient = 1;
COMMIT;
