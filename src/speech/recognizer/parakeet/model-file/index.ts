/** Parakeet TDT model files in ggml form: locates their parts and checks that native code can load them. */
export { expectedTensors, weightTypes } from "./expected-tensors.ts";
export { isModelFile, type ModelSizes } from "./read-model-file.ts";
export {
  type CheckedModel,
  hasQuantizedWeights,
  readVocabularySize,
  validateModelFile,
} from "./validate-model-file.ts";
