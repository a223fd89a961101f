import { expect, test } from "bun:test";
import { available } from "../../harness/checkout.ts";
import { canSeeProcesses } from "../../harness/processes.ts";
import { kills } from "../../tools/endurance/kills.ts";
import { smallRecordingNeeds } from "../../tools/endurance/small-recordings.ts";

const ready = available("the e2e test of kills", ...smallRecordingNeeds);
if (!canSeeProcesses) console.warn("SKIPPED: the e2e test of kills; it needs /proc");

/** The seed kills the worker, then the server. `scripts/endurance kills` runs the same test with more recordings and fifty kills. */
test.if(ready && canSeeProcesses)(
  "recordings have the usual results, and nothing is left behind, when server and worker are killed at random moments",
  async () => {
    const rows = await kills(
      { seed: 30, reportProgress: () => {} },
      { wanted: 2, pauseMilliseconds: 1500, recordings: ["call.wav", "linked.mp3", "chunks.wav"], isBrief: true },
    );
    expect(rows.filter(({ ok }) => !ok)).toEqual([]);
  },
  600_000,
);
