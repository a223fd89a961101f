/** Whisper model files in ggml form: locates their parts and checks that native code can load them. */
export { ModelFileError } from "./file-reader.ts";
export {
  isModelFile,
  type ModelFile,
  type ModelSizes,
  readModelFile,
  readSizes,
  readTokens,
  type StoredTensor,
} from "./read-model-file.ts";
export { validateModelFile } from "./validate-model-file.ts";
