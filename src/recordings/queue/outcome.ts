import type { MachineTroubleKind } from "../../storage/index.ts";

/**
 * The result of an attempt at a recording. Null: the recording has ended. Otherwise its state is unchanged and it is
 * resumed. `slot` means when a slot is free, because its link was fetched or it was parked. Any other value means
 * later, because the machine cannot work now.
 */
export type Outcome = { readonly waitsFor: "slot" | MachineTroubleKind } | null;
