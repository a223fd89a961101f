export { buildCommit, buildInfo, notices, sbom } from "./build-info.ts";
export type { BuildInfo, Embedded, EmbeddedPart, Notice } from "./contents.ts";
export { builtInModels, type ProgramFiles, unpackedLayout } from "./layout.ts";
export { isCompiled, ownCommand, programFile, programVersion, renewal } from "./own-program.ts";
export { dieWithParent, residentBytes, yieldProcessor } from "./processes.ts";
export {
  installProgramFiles,
  presentProgramFiles,
  programFiles,
  renewProgramFiles,
  verifyProgramFiles,
} from "./program-files.ts";
export { digestFile } from "./unpack.ts";
