export { type Boundary, boundaryBetween, sentenceMark } from "./boundary-between.ts";
export { editDistance } from "./edit-distance.ts";
export { count, messageOf, size } from "./format.ts";
