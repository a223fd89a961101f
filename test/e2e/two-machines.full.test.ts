import { expect, test } from "bun:test";
import { takeover, takeoverObstacle } from "../../tools/endurance/takeover.ts";
import { canTranscribe } from "../support/whisper.ts";

const obstacle = await takeoverObstacle();
if (obstacle !== null) console.warn(`SKIPPED: takeovers between machines; ${obstacle}`);
const canRun = canTranscribe("takeovers between machines") && obstacle === null;

/** `scripts/endurance takeover` runs the same test with all disturbances, three times. */
test.if(canRun)(
  "a standby takes over from a server that is cut off from it, the broker and the clients, and nothing answered is lost",
  async () => {
    const plan = { leaseSeconds: 3, rounds: 1, disturbances: ["no way to the broker"], chunks: 2 } as const;
    const rows = await takeover({ reportProgress: () => {} }, plan);
    expect(rows.filter(({ ok }) => !ok)).toEqual([]);
  },
  400_000,
);
