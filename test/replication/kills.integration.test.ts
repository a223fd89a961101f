import { expect, test } from "bun:test";
import { canKill, killServer } from "./kill-table.ts";

/** The size full kills the server at all writes of a create, a correction and a deletion. */
test.if(canKill)(
  "with standby.wait, the standby has what was answered when the server is killed at a write of a create, or after it",
  async () => {
    expect(await killServer("create", [3, 1000])).toBe(true);
  },
  60_000,
);
