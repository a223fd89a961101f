export {
  addReplacement,
  countReplacements,
  importReplacements,
  listReplacements,
  parseReplacements,
  type Replacement,
  ReplacementError,
  removeReplacement,
  requireReplacement,
} from "./replacements.ts";
export { respellSegments } from "./respell-segments.ts";
