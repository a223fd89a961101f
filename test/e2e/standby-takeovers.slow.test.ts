import { expect, test } from "bun:test";
import { available } from "../../harness/checkout.ts";
import { canSeeProcesses } from "../../harness/processes.ts";
import { smallRecordingNeeds } from "../../tools/endurance/small-recordings.ts";
import { standby } from "../../tools/endurance/standby.ts";

const ready = available("the e2e test of takeovers by a standby", ...smallRecordingNeeds);
if (!canSeeProcesses) console.warn("SKIPPED: the e2e test of takeovers by a standby; it needs /proc");

/** `scripts/endurance standby` runs the same test with twelve takeovers. */
test.if(ready && canSeeProcesses)(
  "two takeovers, with and without standby.wait, lose no answered change and no recording, and leave nothing behind",
  async () => {
    const rows = await standby(
      { seed: 3, reportProgress: () => {} },
      {
        ...{
          takeovers: 2,
          disturbances: 1,
          calmMilliseconds: 2_000,
          pauseMilliseconds: 500,
          outageMilliseconds: 2_000,
        },
        ...{ recordings: ["speech.wav"], isBrief: true },
      },
    );
    expect(rows.filter(({ ok }) => !ok)).toEqual([]);
  },
  600_000,
);
