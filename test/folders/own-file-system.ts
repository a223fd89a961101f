import { type FileSystem, runFileCall } from "../../src/folders/file-calls.ts";

/** Runs calls in this process, which is faster to start than one for files. */
export const ownFileSystem: FileSystem = {
  call: async (name, ...args) => runFileCall(name, args),
};
