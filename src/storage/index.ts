export { DataDirectory, DataDirectoryInUseError } from "./data-directory.ts";
export { DataPaths } from "./data-paths.ts";
export { openDatabase, type Store } from "./database.ts";
export { MigrationError } from "./migrate.ts";
export * as tables from "./schema.ts";
export { syncDirectory, syncDirectoryNow } from "./sync-directory.ts";
