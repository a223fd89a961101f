export { makeCacheEntry, removeCacheEntry, removeOldTemporaryFolders, withTemporaryFolder } from "./cache-entry.ts";
export { readAt, readPieces, replaceFile, syncDirectory, syncDirectoryNow, syncFile, writeAll } from "./file-io.ts";
export { lockFile } from "./lock-file.ts";
export { isAdministrator, pathSteps, untrustedWriter } from "./path-trust.ts";
export * as tar from "./tar.ts";
