-- Folders of the file system whose recordings are transcribed, and what the server last saw in each.
CREATE TABLE folders (
  id TEXT PRIMARY KEY NOT NULL,
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  workspace_id TEXT REFERENCES workspaces (id),
  path TEXT NOT NULL,
  target TEXT,
  formats TEXT NOT NULL,
  language TEXT,
  created_at INTEGER NOT NULL,
  waiting INTEGER NOT NULL DEFAULT 0,
  unread INTEGER NOT NULL DEFAULT 0,
  hindrance TEXT,
  hindered_since INTEGER,
  seen_at INTEGER,
  done INTEGER NOT NULL DEFAULT 0,
  failed INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX folders_path ON folders (path);
CREATE INDEX folders_account ON folders (account_id);
CREATE INDEX folders_workspace ON folders (workspace_id) WHERE workspace_id IS NOT NULL;

-- Files that were taken from a folder.
CREATE TABLE folder_files (
  id TEXT PRIMARY KEY NOT NULL,
  folder_id TEXT NOT NULL REFERENCES folders (id) ON DELETE CASCADE,
  recording_id TEXT REFERENCES recordings (id) ON DELETE SET NULL,
  state TEXT NOT NULL,
  name TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  modified TEXT NOT NULL,
  inode TEXT NOT NULL,
  sha256 TEXT,
  reason TEXT,
  detail TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  retry_at INTEGER,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX folder_files_folder ON folder_files (folder_id, state, name);
CREATE INDEX folder_files_recording ON folder_files (recording_id) WHERE recording_id IS NOT NULL;
