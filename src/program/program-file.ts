import { embedded } from "./embedded.ts";

/** The one file that this program is; null from source. */
export const programFile: string | null = embedded === null ? null : process.execPath;
