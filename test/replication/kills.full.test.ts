import { expect, test } from "bun:test";
import { canKill, killedRequests, killServer } from "./kill-table.ts";

/** More writes than any request has, so that a fault does not let the table grow without end. */
const MAX_STEPS = 60;

test.if(canKill).each(killedRequests)(
  "with standby.wait, the standby has each answered %s when the server is killed at any of its writes",
  async (name) => {
    expect(await killServer(name, Array(MAX_STEPS).keys())).toBe(true);
  },
  300_000,
);
