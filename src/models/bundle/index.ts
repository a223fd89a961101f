export { readBundle } from "./read-bundle.ts";
export { writeBundle } from "./write-bundle.ts";
