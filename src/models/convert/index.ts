export { ConversionError } from "./conversion-error.ts";
export { type ConversionInput, convertCtranslate2 } from "./convert-ctranslate2.ts";
