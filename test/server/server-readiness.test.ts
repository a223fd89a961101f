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
      fleetProblem: () => null,
      memoryWarning: () => null,
    });
    expect(readiness.known()).toBe(trouble);
  },
);

test("a server whose fleet has no machine that processes recordings is not ready, and gives that reason", async () => {
  const readiness = new ServerReadiness({
    diskSpace: { shortage: () => null },
    queue: { stalled: () => [] },
    health: { known: () => null, trouble: () => Promise.resolve(null) },
    fleetProblem: () => "no worker of the fleet is present",
    memoryWarning: () => null,
  });
  expect(readiness.known()).toBe("no worker of the fleet is present");
  expect(await readiness.trouble()).toBe("no worker of the fleet is present");
});

test("a server with too little memory is ready, with a warning", () => {
  const readiness = new ServerReadiness({
    diskSpace: { shortage: () => null },
    queue: { stalled: () => [] },
    health: { known: () => null, trouble: () => Promise.resolve(null) },
    fleetProblem: () => null,
    memoryWarning: () => "memory limit 400 MiB, needed about 1.2 GiB",
  });
  expect([readiness.known(), readiness.warning()]).toEqual([null, "memory limit 400 MiB, needed about 1.2 GiB"]);
});
