export { LiveRows, type OpenRow } from "./live-rows.ts";
export { type LiveText, liveTextOf, wasLive } from "./live-text.ts";
export { parseNames, parseOptions } from "./stored-options.ts";
export { packed, parseWords, speakerLabel, speakerNumber, type TurnSegment } from "./stored-segments.ts";
