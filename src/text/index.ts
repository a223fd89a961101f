export { type Boundary, boundaryBetween, sentenceMark } from "./boundary-between.ts";
export { cleanText } from "./clean-text.ts";
export { editDistance } from "./edit-distance.ts";
export { foldAscii, isEmailAddress } from "./email-address.ts";
export { codeOf, ExpectedError, isSystemError, messageOf, orAborted, valueOr } from "./errors.ts";
export { count, memorySize, size, utcDay } from "./format.ts";
export { HintError, type Hints, MAX_PROMPT_CHARACTERS, MAX_SPEAKERS, parseHints } from "./hints.ts";
export { joinTerms, normalizeTerms } from "./terms.ts";
export { meetIn } from "./text-joint.ts";
