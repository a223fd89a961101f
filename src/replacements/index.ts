export {
  addReplacement,
  cleanSource,
  cleanTarget,
  countReplacements,
  importReplacements,
  listReplacements,
  MAX_REPLACEMENTS,
  parseReplacements,
  type Replacement,
  ReplacementError,
  removeReplacement,
} from "./replacements.ts";
export { respellSegment, respellSegments } from "./respell-segments.ts";
