import { expect, test } from "bun:test";
import { partitions, partitionsObstacle } from "../../tools/endurance/partitions.ts";
import { canTranscribe } from "../support/whisper.ts";

const obstacle = await partitionsObstacle();
if (obstacle !== null) console.warn(`SKIPPED: partitions of a fleet; ${obstacle}`);
const canRun = canTranscribe("partitions of a fleet") && obstacle === null;

/** `scripts/endurance partitions` runs the same test with thirty partitions of up to a minute. */
test.if(canRun)(
  "a recording has its usual segments when its worker is cut off in each direction, and no stored part is repeated",
  async () => {
    const each = (direction: "both" | "to" | "from") => ({ direction, seconds: 1.5, pauseSeconds: 0 });
    const rows = await partitions(
      { seed: 1, reportProgress: () => {} },
      { partitions: () => [each("to"), each("from"), each("both")], workHere: false, chunks: 2 },
    );
    expect(rows.filter(({ ok }) => !ok)).toEqual([]);
  },
  400_000,
);
