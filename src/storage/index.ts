export type { AudioStore } from "./audio-store.ts";
export { newBackupPath, pruneUpgradeBackups } from "./backup/backup-directory.ts";
export { BackupFile } from "./backup/backup-file.ts";
export { BackupError, databaseFacts } from "./backup/copy-database.ts";
export { entryBlockingRestore, restoreBackup } from "./backup/restore-backup.ts";
export * as tar from "./backup/tar.ts";
export { writeBackup } from "./backup/write-backup.ts";
export { becomeOwner, becomeOwnerWith } from "./become-owner.ts";
export { deleteSome } from "./bounded-deletes.ts";
export { DataDirectory, DataDirectoryError, DataDirectoryInUseError, DataPaths } from "./data-directory.ts";
export {
  openDatabase,
  openDatabaseOf,
  preparedFor,
  readDatabase,
  type Store,
  transact,
  type Writer,
} from "./database.ts";
export { DiskSpace, type Reservation } from "./disk-space.ts";
export { DiskUsage } from "./disk-usage.ts";
export { lockFile } from "./lock-file.ts";
export {
  databaseTrouble,
  MachineError,
  type MachineTrouble,
  type MachineTroubleKind,
  machineTrouble,
  machineTroubles,
  probeWriting,
} from "./machine-trouble.ts";
export { databaseState, MigrationError, pendingMigrations } from "./migrate.ts";
export { NewFile } from "./new-file.ts";
export { isRecordingId, type PlaybackFiles, RecordingFiles } from "./recording-files.ts";
export * as tables from "./schema.ts";
export * as values from "./stored-values.ts";
export { WorkReservations } from "./work-reservations.ts";
export { deferSync, truncateLog } from "./write-ahead-log.ts";
