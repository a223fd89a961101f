import { expect, test } from "bun:test";
import type { MachineTroubleKind } from "../../src/disk/index.ts";
import { ServerReadiness } from "../../src/server/server-readiness.ts";

/** Returns the readiness of a server without any trouble but that of these parts. */
const readinessWith = (parts: Partial<ConstructorParameters<typeof ServerReadiness>[0]>) =>
  new ServerReadiness({
    diskSpace: { shortage: () => null },
    queue: { stalled: () => [] },
    health: { known: () => null, trouble: () => Promise.resolve(null) },
    fleetProblem: () => null,
    leaseTrouble: () => null,
    standbyProblem: () => null,
    warning: () => null,
    ...parts,
  });

test.each<[MachineTroubleKind[], string | null]>([
  [[], null],
  [["no_room"], null],
  [["disk_full"], "1 recording waits: the disk is full"],
  [["no_room", "disk_full"], "1 recording waits: the disk is full"],
  [["io_error", "io_error"], "2 recordings wait: the disk reports errors"],
])(
  "a server whose recordings wait for %p is ready unless that trouble blocks other recordings: %p",
  (stalled, trouble) => {
    expect(readinessWith({ queue: { stalled: () => stalled } }).known()).toBe(trouble);
  },
);

test("a server whose fleet has no machine that processes recordings is not ready, and gives that reason", async () => {
  const readiness = readinessWith({ fleetProblem: () => "no worker of the fleet is present" });
  expect(readiness.known()).toBe("no worker of the fleet is present");
  expect(await readiness.trouble()).toBe("no worker of the fleet is present");
});

test("a server with too little memory is ready, with a warning", () => {
  const readiness = readinessWith({ warning: () => "memory limit 400 MiB, needed about 1.2 GiB" });
  expect([readiness.known(), readiness.warning()]).toEqual([null, "memory limit 400 MiB, needed about 1.2 GiB"]);
});

test("a server whose changes wait for a standby that is away is ready, because transcripts can be read", async () => {
  const readiness = readinessWith({ standbyProblem: () => "the standby is not connected" });
  expect([readiness.known(), await readiness.trouble()]).toEqual(["the standby is not connected", null]);
});
