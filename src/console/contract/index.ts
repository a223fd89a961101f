/**
 * The protocol between the console's page and the server, under `/console/data/`. The page uses only the types; the
 * server validates with the schemas. Every method except GET needs the header `x-transcribe-console: 1`.
 *
 * | | |
 * |---|---|
 * | GET sign-in-methods | `SignInMethods`, without a session |
 * | POST session | `SignInRequest` → `Session` and the cookie |
 * | POST provider-sign-in | the page's address → `ProviderAddress` and a cookie |
 * | GET session, DELETE session?page= | `Session`; `SignedOut` |
 * | GET overview, GET events | `Overview`; server-sent events `overview` of the same |
 * | GET upload-options | `UploadOptions` |
 * | GET recordings | `RecordingPage` |
 * | POST recordings?account=&workspace= | multipart/form-data: `file` or `url`, `language`? → 201 `RecordingDetail` |
 * | GET, DELETE recordings/ID | `RecordingDetail`; 204 |
 * | GET recordings/ID/segments, …/outline, …/find | `SegmentPage`, `Outline`, `Find` |
 * | GET recordings/ID/playback, …/audio, …/waveform | `PlaybackCopy` (starts the copy), bytes, `Waveform` |
 * | GET, POST, DELETE recordings/ID/processing | `ProcessingOptions`; `ProcessAgain` → `RecordingDetail`; `RecordingDetail` |
 * | POST recordings/ID/corrections, GET …/changes | `CorrectionRequest` → `Corrected`; `Changes` |
 * | GET recordings/ID/revisions, …/comparison, …/replacements | `RevisionPage`, `Comparison`, `ReplacementPage` |
 * | PUT recordings/ID/speakers | `Rename` → `RecordingDetail` |
 * | POST recordings/ID/voices, …/proposals | `Remember`, `ProposalAnswer` → `RecordingDetail` |
 * | GET recordings/ID/exports/FORMAT | the file, with the names given to the speakers |
 * | GET accounts | `AccountPage` |
 * | GET accounts/ID/voices | `VoiceList` |
 * | PUT, DELETE voices/ID | `RenameVoice`? → `VoiceList` |
 * | POST keys, DELETE keys/ID | `NewKey` → 201 `CreatedKey`; `Key` |
 *
 * Every error response has a `ConsoleErrorBody`.
 */
export * from "./accounts.ts";
export * from "./corrections.ts";
export * from "./overview.ts";
export * from "./processing.ts";
export * from "./recordings.ts";
export * from "./shared.ts";
export * from "./transcript.ts";
export * from "./voices.ts";
