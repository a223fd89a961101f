export { deleteSome } from "./bounded-deletes.ts";
export { BackupError, copyDatabase, type DatabaseFacts, databaseFacts } from "./copy-database.ts";
export {
  checkWrites,
  openDatabase,
  openDatabaseOf,
  preparedFor,
  readDatabase,
  type Store,
  transact,
  type Writer,
} from "./database.ts";
export { databaseState, hasTable, MigrationError, migrate, migrationsUpTo, pendingMigrations } from "./migrate.ts";
export type { Recording } from "./schema.ts";
export * as tables from "./schema.ts";
export * as values from "./stored-values.ts";
export { deferSync, followLog, truncateLog } from "./write-ahead-log.ts";
