export { ConversionError } from "./conversion-error.ts";
export { convertCtranslate2 } from "./convert-ctranslate2.ts";
