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
  "a server with recordings that wait for %p is kept from work by those alone that hold up others: %p",
  (stalled, said) => {
    const trial = { known: () => null, trouble: () => Promise.resolve(null) };
    const readiness = new ServerReadiness({
      diskSpace: { shortage: () => null },
      queue: { stalled: () => stalled },
      health: trial,
    });
    expect(readiness.known()).toBe(said);
  },
);
