import type { MachineTroubleKind } from "../storage/index.ts";

/**
 * How an attempt at a recording ended: it reached its end, or was parked for a later start (null); or the machine can't work
 * now, and the recording waits as it is to be tried again.
 */
export type Outcome = { readonly waitsFor: MachineTroubleKind } | null;
