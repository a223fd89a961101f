import { expect, test } from "bun:test";
import { kills } from "../../scripts/support/endurance/kills.ts";
import { smallRecordingNeeds } from "../../scripts/support/endurance/small-recordings.ts";
import { available } from "../support/checkout.ts";
import { canSeeProcesses } from "../support/processes.ts";

const ready = available("the e2e test of kills", ...smallRecordingNeeds);
if (!canSeeProcesses) console.warn("SKIPPED: the e2e test of kills; it finds workers in /proc");

/** scripts/endurance kills does the same with fifty. */
test.if(ready && canSeeProcesses)(
  "server and worker are killed at random moments of five recordings: all end as if nothing had been, and nothing is left behind",
  async () => {
    const rows = await kills(
      { seed: 7, reportProgress: () => {} },
      { wanted: 4, pauseMilliseconds: 3000, isBrief: true },
    );
    expect(rows.filter(({ ok }) => !ok)).toEqual([]);
  },
  600_000,
);
