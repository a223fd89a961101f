/**
 * A backup in one file: a tar archive of `transcribe.db`, the recordings as they were sent (`uploads/ID`), and at its end
 * `manifest.json`, which says of each file how long it is and what its SHA-256 is. `tar tf` shows it.
 */
export { TAR_BLOCK_BYTES, TAR_MAX_FILE_BYTES, tarHeader, tarPadding } from "./tar-header.ts";
export { unpackBackup } from "./unpack-backup.ts";
export { type WrittenBackup, writeBackup, writeDatabaseBackup } from "./write-backup.ts";
