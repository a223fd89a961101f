import type { tables } from "../storage/index.ts";

/** The record of a recording. */
export type Recording = typeof tables.recordings.$inferSelect;
