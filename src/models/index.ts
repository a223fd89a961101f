export { builtInPath } from "./built-in.ts";
export { writeBundle } from "./bundle/index.ts";
export { dropCacheEntry, makeCacheEntry, sweepTemporaryFolders, withTemporaryFolder } from "./cache-entry.ts";
export { CarriedModel } from "./carried-model.ts";
export {
  findModel,
  findModelOrNull,
  type ModelEntry,
  modelIdSchema,
  productCatalogue,
  publishedSize,
  readCatalogue,
  type Wheel,
} from "./catalogue.ts";
export { assembleOnnx, ConversionError, convertCtranslate2 } from "./convert/index.ts";
export { type ImportOptions, importModels } from "./import.ts";
export { type InstalledModel, ModelLibrary } from "./library.ts";
export { LibraryError } from "./library-error.ts";
export { ModelUnavailableError, obtainModel } from "./obtain-model.ts";
export { type PullOptions, pullModel } from "./pull.ts";
export { CommandError, runCommand } from "./run-command.ts";
export { type SpeechModel, SpeechModels } from "./speech-models.ts";
export { type Damage, verifyBuiltIn, verifyInstalled } from "./verify.ts";
export { unpackWheel } from "./wheel.ts";
