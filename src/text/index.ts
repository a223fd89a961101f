export { type Boundary, boundaryBetween, sentenceMark } from "./boundary-between.ts";
export { editDistance } from "./edit-distance.ts";
export { foldAscii, isEmailAddress } from "./email-address.ts";
export { codeOf, ExpectedError, isSystemError, messageOf, orAborted } from "./errors.ts";
export { count, memorySize, percentDecoded, size, utcDay } from "./format.ts";
export { HintError, type Hints, type HintTexts, MAX_PROMPT_CHARACTERS, MAX_SPEAKERS, parseHints } from "./hints.ts";
export { joinTerms, normalizeTerms } from "./terms.ts";
export { countTextErrors } from "./text-errors.ts";
