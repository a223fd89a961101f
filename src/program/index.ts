export type { Embedded, EmbeddedPart } from "./embedded.ts";
export { ownCommand } from "./own-command.ts";
export { programFile } from "./program-file.ts";
export {
  type ProgramFiles,
  presentProgramFiles,
  programFiles,
  renewProgramFiles,
  unpackedLayout,
  verifyProgramFiles,
} from "./program-files.ts";
export { UnpackError } from "./unpack-error.ts";
export { programVersion } from "./version.ts";
