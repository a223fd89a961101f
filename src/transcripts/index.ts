export { applyRerun, applyRespelling } from "./correct.ts";
export { recognizedSegments } from "./corrected-rows.ts";
export {
  type Corrected,
  type Correcting,
  type Correction,
  CorrectionError,
  type CorrectionRefusal,
  correctionSchema,
  type Edit,
  placeSchema,
  type Replacement,
  replacementSchema,
} from "./correction.ts";
export type { Comparison, EarlierState } from "./earlier-states.ts";
export * as occurrences from "./replacements.ts";
export * as respelling from "./respelling.ts";
export type { LaterChanges } from "./revisions.ts";
export { speakerIndex, speakerLabel } from "./speakers.ts";
export { type RecordingText, Transcript } from "./transcript.ts";
export { Translation, translationLanguage } from "./translation.ts";
export { placeWords } from "./word-times.ts";
