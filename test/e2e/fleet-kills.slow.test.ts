import { expect, test } from "bun:test";
import { available } from "../../harness/checkout.ts";
import { natsServerProgram } from "../../harness/nats-server.ts";
import { canSeeProcesses } from "../../harness/processes.ts";
import { fleet } from "../../tools/endurance/fleet.ts";
import { smallRecordingNeeds } from "../../tools/endurance/small-recordings.ts";

const what = "the e2e test of kills in a fleet";
const ready = available(what, ...smallRecordingNeeds);
if (!canSeeProcesses) console.warn(`SKIPPED: ${what}; it needs /proc`);
const broker = await natsServerProgram(what);

/** `scripts/endurance fleet` runs the same test with five recordings, fifty kills and stopped machines. */
test.if(ready && canSeeProcesses && broker !== null)(
  "recordings have the results of a single machine, and nothing is left behind, when machines of their fleet are killed",
  async () => {
    const rows = await fleet(
      { seed: 3, reportProgress: () => {} },
      {
        wanted: 3,
        perRound: 3,
        pauseMilliseconds: 1500,
        stopMilliseconds: 0,
        workers: ["worker-1", "worker-2"],
        recordings: ["speech.wav", "chunks.wav"],
        isBrief: true,
      },
    );
    expect(rows.filter(({ ok }) => !ok)).toEqual([]);
  },
  600_000,
);
