export { applyRerun, correct } from "./correct.ts";
export { recognizedSegments } from "./corrected-rows.ts";
export {
  type Corrected,
  type Correcting,
  type Correction,
  CorrectionError,
  type CorrectionRefusal,
  correctionSchema,
  placeSchema,
  type Replacement,
  replacementSchema,
} from "./correction.ts";
export { type Comparison, compareRevision } from "./earlier-states.ts";
export { placesToReplace, replaceIn, requireShort } from "./replacements.ts";
export { changesAfter, type Editing, type LaterChanges, listRevisions, type Revision } from "./revisions.ts";
export { placeWords } from "./word-times.ts";
