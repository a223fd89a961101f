import type { AccountTrouble, IntakeRefusal } from "../../src/intake/index.ts";

/** A value for each kind of refusal; for each trouble of an account, and for both windows of creates. */
export type RefusalTable<T> = Readonly<
  Record<Exclude<IntakeRefusal["kind"], "account"> | AccountTrouble | "creates_of_day", T>
>;

/** A refusal of each kind. */
export const refusals: RefusalTable<IntakeRefusal> = {
  closed: { kind: "closed", reason: "The server is stopping." },
  guest: { kind: "account", trouble: "guest" },
  restricted: { kind: "account", trouble: "restricted" },
  no_subscription: { kind: "account", trouble: "no_subscription" },
  creates_used_up: { kind: "creates_used_up", window: "hour", limit: 30, retryMilliseconds: 1001 },
  creates_of_day: { kind: "creates_used_up", window: "day", limit: 90, retryMilliseconds: 0 },
  no_place: { kind: "no_place", places: 5 },
  no_place_for_replay: { kind: "no_place_for_replay", places: 1 },
  left_to_requests: { kind: "left_to_requests", limit: "audio" },
  disk_full: { kind: "disk_full" },
  account_share_full: { kind: "account_share_full" },
  probe_timed_out: { kind: "probe_timed_out" },
  no_recording: { kind: "no_recording", reason: "It is no recording." },
  too_long: { kind: "too_long", maxSeconds: 5400 },
  never_fits: { kind: "never_fits" },
  no_space_to_process: { kind: "no_space_to_process", neededBytes: 7000 },
};
