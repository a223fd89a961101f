import type { Embedded } from "./contents.ts";

/** Null when run from source: scripts/build replaces this module when it compiles. */
export const embedded: Embedded | null = null as Embedded | null;
