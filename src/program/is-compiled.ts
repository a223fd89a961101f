import { embedded } from "./embedded.ts";

/** Whether this is the program in one file. */
export const isCompiled = embedded !== null;
