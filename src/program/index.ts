export { type BuildInfo, buildInfo, type Notice, notices, sbom } from "./build-info.ts";
export type { Embedded } from "./embedded.ts";
export { builtInModels, type ProgramFiles, unpackedLayout } from "./layout.ts";
export { isCompiled, ownCommand, programFile, programVersion, renewal } from "./own-program.ts";
export { isAdministrator, pathSteps, untrustedWriter } from "./path-trust.ts";
export { dieWithParent, yieldProcessor } from "./processes.ts";
export { presentProgramFiles, programFiles, renewProgramFiles, verifyProgramFiles } from "./program-files.ts";
export { UnpackError } from "./runtime-directory.ts";
export { digestFile } from "./unpack.ts";
