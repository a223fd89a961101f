import { embedded } from "./embedded.ts";

/** Path of the single file of a compiled program; null from source. */
export const programFile: string | null = embedded === null ? null : process.execPath;
