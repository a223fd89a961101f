/** Speech recognition: the interface of a model family, and the families by their files. */
export { canTranslate, familyOf, readModelLanguages, validateModelFile } from "./families.ts";
export { comparableText } from "./known-words.ts";
export {
  type EncoderComparison,
  type EncoderOptions,
  encoderComparisonSchema,
  type Language,
  type Recognizer,
  type RecognizerModel,
} from "./recognizer.ts";
export { encoderPath, isSoundEncoder, type ModelSizes, noteEncoderUse } from "./whisper/index.ts";
