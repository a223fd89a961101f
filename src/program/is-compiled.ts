import { embedded } from "./embedded.ts";

/** Whether this program is compiled into one file. */
export const isCompiled = embedded !== null;
