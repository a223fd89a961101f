export { BackupFile } from "./backup-file.ts";
export { entryBlockingRestore, restoreBackup } from "./restore-backup.ts";
export { writeBackup } from "./write-backup.ts";
