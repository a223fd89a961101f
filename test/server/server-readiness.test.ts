import { expect, test } from "bun:test";
import { ServerReadiness } from "../../src/server/server-readiness.ts";
import type { MachineTroubleKind } from "../../src/storage/index.ts";

test.each<[MachineTroubleKind[], string | null]>([
  [[], null],
  [["no_room"], null],
  [["disk_full"], "1 recording waits: the disk is full"],
  [["no_room", "disk_full"], "1 recording waits: the disk is full"],
  [["io_error", "io_error"], "2 recordings wait: the disk reports errors"],
])(
  "a server whose recordings wait for %p is ready unless that trouble blocks other recordings: %p",
  (stalled, trouble) => {
    const health = { known: () => null, trouble: () => Promise.resolve(null) };
    const readiness = new ServerReadiness({
      diskSpace: { shortage: () => null },
      queue: { stalled: () => stalled },
      health,
    });
    expect(readiness.known()).toBe(trouble);
  },
);
