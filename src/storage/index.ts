export {
  TAR_BLOCK_BYTES,
  TAR_MAX_FILE_BYTES,
  tarHeader,
  tarPadding,
  writeBackup,
  writeDatabaseBackup,
} from "./archive/index.ts";
export { BackupFile } from "./backup-file.ts";
export { backupDirectory, newBackupPath, pruneUpgradeBackups } from "./backups.ts";
export { becomeOwner, becomeOwnerWith } from "./become-owner.ts";
export { BackupError, copyDatabase } from "./copy-database.ts";
export { DataDirectory, DataDirectoryError, DataDirectoryInUseError } from "./data-directory.ts";
export { DataPaths } from "./data-paths.ts";
export { openDatabase, openDatabaseOf, type Store, type Upgrade } from "./database.ts";
export { databaseFacts } from "./database-facts.ts";
export { databaseTrouble } from "./database-trouble.ts";
export { deferSync } from "./defer-sync.ts";
export { isDiskFull } from "./disk-full.ts";
export { DiskSpace, type Reservation } from "./disk-space.ts";
export { DiskUsage } from "./disk-usage.ts";
export { entryBlockingRestore } from "./in-the-way.ts";
export { lockFile } from "./lock-file.ts";
export {
  MachineError,
  type MachineTrouble,
  type MachineTroubleKind,
  machineTrouble,
  machineTroubles,
} from "./machine-trouble.ts";
export { type DatabaseState, databaseState, MigrationError, pendingMigrations } from "./migrate.ts";
export { NewFile } from "./new-file.ts";
export { probeWriting } from "./probe-writing.ts";
export { readDatabase } from "./read-database.ts";
export { type PlaybackFiles, RecordingFiles } from "./recording-files.ts";
export { restoreBackup } from "./restore-backup.ts";
export { restoreDatabase } from "./restore-database.ts";
export * as tables from "./schema.ts";
export { removeSearchableRows } from "./searchable-rows.ts";
export { syncDirectory, syncDirectoryNow } from "./sync-directory.ts";
export { truncateLog } from "./truncate-log.ts";
export { WorkReservations } from "./work-reservations.ts";
