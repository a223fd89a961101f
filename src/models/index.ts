export { writeBundle } from "./bundle.ts";
export {
  builtInPath,
  findModel,
  type ModelEntry,
  modelIdSchema,
  productCatalogue,
  publishedSize,
} from "./catalogue.ts";
export { convertCtranslate2 } from "./convert/convert-ctranslate2.ts";
export { foreignWeights, verifyBuiltIn, verifyInstalled } from "./digests.ts";
export { type ImportOptions, importModels } from "./import.ts";
export { lackingModelsText } from "./lacking-models.ts";
export { parseLanguageRoutes } from "./language-routes.ts";
export { familyFacts, type InstalledModel, ModelLibrary } from "./library.ts";
export { ModelError } from "./model-error.ts";
export { OpenedModel } from "./opened-model.ts";
export { type PullOptions, pullModel } from "./pull.ts";
export { type LanguageRoute, type SpeechModel, SpeechModels } from "./speech-models.ts";
