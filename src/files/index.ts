export { makeCacheEntry, removeCacheEntry, removeOldTemporaryFolders, withTemporaryFolder } from "./cache-entry.ts";
export { isAdministrator, pathSteps, untrustedWriter } from "./path-trust.ts";
