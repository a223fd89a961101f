/**
 * What the console's page and the server say to each other, under `/console/data/`. The page takes the types alone; the
 * server checks with the schemas. All but GET needs the header `x-transcribe-console: 1`.
 *
 * | | |
 * |---|---|
 * | GET entrance | `Entrance`, without a session |
 * | POST session | `Enter` → `Session` and the cookie |
 * | GET, DELETE session | `Session`; 204 |
 * | GET overview, GET events | `Overview`; server-sent events `overview` of the same |
 * | GET upload-options | `UploadOptions` |
 * | GET recordings | `RecordingPage` |
 * | POST recordings?account=&workspace= | multipart/form-data with `file` (or `url`) and maybe `language` → 201 `RecordingDetail` |
 * | GET, DELETE recordings/ID | `RecordingDetail`; 204 |
 * | GET recordings/ID/segments, …/outline, …/find | `SegmentPage`, `Outline`, `Find` |
 * | GET recordings/ID/listening, …/audio, …/waveform | `Listening` (asking has it made), bytes with ranges, `Waveform` |
 * | PUT recordings/ID/speakers | `Rename` → `RecordingDetail` |
 * | GET recordings/ID/exports/FORMAT | the file, with the speakers' new names |
 * | GET accounts | `AccountPage` |
 * | POST keys, DELETE keys/ID | `NewKey` → 201 `MadeKey`; `Key` |
 *
 * What goes wrong is answered with a `ConsoleErrorBody`.
 */
export * from "./contract/accounts.ts";
export * from "./contract/overview.ts";
export * from "./contract/recordings.ts";
export * from "./contract/session.ts";
export * from "./contract/shared.ts";
export * from "./contract/transcript.ts";
