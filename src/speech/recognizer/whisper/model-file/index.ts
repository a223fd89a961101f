/** Whisper model files in ggml form: locates their parts and checks that native code can load them. */
export {
  isModelFile,
  type ModelFile,
  type ModelSizes,
  readModelFile,
  readSizes,
  readTokens,
} from "./read-model-file.ts";
export { validateModelFile } from "./validate-model-file.ts";
