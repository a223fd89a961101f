-- What is looked for in a workspace, by its lists and when it is deleted, and creates that are a day old.
CREATE INDEX recordings_workspace ON recordings (workspace_id, status, id) WHERE workspace_id IS NOT NULL;
CREATE INDEX api_keys_workspace ON api_keys (workspace_id) WHERE workspace_id IS NOT NULL;
CREATE INDEX creates_created ON creates (created_at);
