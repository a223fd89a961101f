export { frameOf, framesIn, lastFrameWithin, sampleOf, windowEnd } from "./frames.ts";
export { ONSET_SECONDS, PASSAGE_RULES, type PassageChange, PassageFinder } from "./passage-finder.ts";
