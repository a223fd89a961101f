import { expect, test } from "bun:test";
import { available } from "../../harness/checkout.ts";
import { natsServerProgram } from "../../harness/nats-server.ts";
import { canSeeProcesses } from "../../harness/processes.ts";
import { pool } from "../../tools/endurance/pool.ts";
import { smallRecordingNeeds } from "../../tools/endurance/small-recordings.ts";

const what = "the e2e test of a pool that grows and shrinks";
const ready = available(what, ...smallRecordingNeeds);
if (!canSeeProcesses) console.warn(`SKIPPED: ${what}; it needs /proc`);
const broker = await natsServerProgram(what);

/** `scripts/endurance pool` runs the same test with five recordings and eight workers. */
test.if(ready && canSeeProcesses && broker !== null)(
  "recordings have the results of a single machine, and no part is lost or repeated, when a pool grows and shrinks",
  async () => {
    const plan = { workers: 3, rounds: 1, recordings: ["speech.wav", "chunks.wav"] as const, isBrief: true };
    const rows = await pool({ reportProgress: () => {} }, plan);
    expect(rows.filter(({ ok }) => !ok)).toEqual([]);
  },
  600_000,
);
