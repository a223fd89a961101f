export { type MinisignKey, readPublicKey, SignatureError } from "./minisign.ts";
export { scanProgramFile } from "./scan-file.ts";
export { type DatabaseToServe, verifyProgram } from "./verify-program.ts";
