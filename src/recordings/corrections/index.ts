export { correct } from "./correct.ts";
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
export { placesToReplace, replaceIn } from "./replacements.ts";
export { changesAfter, type Editing, type LaterChanges, listRevisions, type Revision } from "./revisions.ts";
export { placeWords } from "./word-times.ts";
