export { type MinisignKey, readPublicKey, SignatureError, verifySignature } from "./minisign.ts";
export { markedDescription } from "./program-file.ts";
export { scanProgramFile } from "./scan-file.ts";
export { type DatabaseToServe, verifyProgram } from "./verify-program.ts";
