/**
 * A backup in one file: a tar archive of `transcribe.db`, the recordings as they were sent (`uploads/ID`) and, at its
 * end, `manifest.json`. The manifest lists the size and SHA-256 of each file. `tar tf` lists the content.
 */
export { TAR_BLOCK_BYTES, TAR_MAX_FILE_BYTES, tarHeader, tarPadding } from "./tar-header.ts";
export { unpackBackup } from "./unpack-backup.ts";
export { type WrittenBackup, writeBackup, writeDatabaseBackup } from "./write-backup.ts";
