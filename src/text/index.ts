export { count, size } from "./amounts.ts";
export { type Boundary, boundaryBetween } from "./boundary-between.ts";
export { editDistance } from "./edit-distance.ts";
export { messageOf } from "./message-of.ts";
export { sentenceMark } from "./sentence-mark.ts";
