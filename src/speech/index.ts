export { embed, openDiarizationModels, segment } from "./diarization/index.ts";
export { otherLanguage, type Probabilities, sureProbability } from "./other-language.ts";
export {
  canTranslate,
  comparableText,
  type EncoderComparison,
  encoderComparisonSchema,
  encoderPath,
  familyOf,
  isSoundEncoder,
  type Language,
  type ModelSizes,
  noteEncoderUse,
  type RecognizerModel,
  readModelLanguages,
  validateModelFile,
} from "./recognizer/index.ts";
