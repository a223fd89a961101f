import { expect, test } from "bun:test";
import { outcomeOf } from "../../src/folders/intake-refusals.ts";
import { type RefusalTable, refusals } from "../support/intake-refusals.ts";

const outcomes: RefusalTable<ReturnType<typeof outcomeOf>> = {
  closed: { hindrance: "server_busy" },
  guest: { hindrance: "account" },
  restricted: { hindrance: "account" },
  no_subscription: { hindrance: "account" },
  creates_used_up: { hindrance: "creates" },
  creates_of_day: { hindrance: "creates" },
  no_place: { hindrance: "places" },
  no_place_for_replay: { hindrance: "places" },
  left_to_requests: { hindrance: "creates" },
  disk_full: { hindrance: "server_busy" },
  account_share_full: { hindrance: "server_busy" },
  probe_timed_out: { hindrance: "server_busy" },
  no_recording: { fault: "unusable", detail: "It is no recording." },
  too_long: { fault: "unusable", detail: "The recording is longer than 1.5 hours." },
  never_fits: {
    fault: "too_large",
    detail: "The recording needs more disk space to process than this server has.",
  },
  no_space_to_process: { neededBytes: 7000 },
};

test("a file whose recording is refused waits, or fails for a reason, for each kind of refusal", () => {
  const found = Object.entries(refusals).map(([name, refusal]) => [name, outcomeOf(refusal)]);
  expect(Object.fromEntries(found)).toEqual(outcomes);
});
