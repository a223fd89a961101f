export { ownCommand } from "./own-command.ts";
export { type ProgramFiles, programFiles } from "./program-files.ts";
export { programVersion } from "./version.ts";
