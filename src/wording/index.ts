export { count, size } from "./amounts.ts";
export { messageOf } from "./message-of.ts";
export { sentenceMark } from "./sentence-mark.ts";
