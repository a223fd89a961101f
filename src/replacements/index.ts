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
export { respellSegments } from "./respell-segments.ts";
