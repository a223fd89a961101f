export { readBundle, type UnpackedModel } from "./read-bundle.ts";
export { writeBundle } from "./write-bundle.ts";
