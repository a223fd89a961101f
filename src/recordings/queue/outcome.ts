import type { MachineTroubleKind } from "../../storage/index.ts";

/**
 * How an attempt at a recording ended. Null: the recording has ended. Otherwise it stays as it is and is resumed: when a slot is
 * free, because its link was fetched or it was parked; or later, because the machine can't work now.
 */
export type Outcome = { readonly waitsFor: "slot" | MachineTroubleKind } | null;
