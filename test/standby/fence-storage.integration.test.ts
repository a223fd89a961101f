import { expect, setDefaultTimeout, test } from "bun:test";
import { canMount, SmallDisk } from "../../harness/small-disk.ts";
import { FencedPair } from "./fenced-pair.ts";

setDefaultTimeout(60_000);

/** Makes a disk read-only, for which no file of it may be open for writing. */
function makeReadOnly(disk: SmallDisk): void {
  for (let attempts = 20; ; attempts--) {
    try {
      disk.remount("ro");
      return;
    } catch (error) {
      if (attempts === 0) throw error;
      Bun.sleepSync(5);
    }
  }
}

test.if(canMount)(
  "a server whose fence's storage becomes read-only pauses, no takeover is possible, and both say why",
  async () => {
    const reason = "it is read-only; mend the storage, or mount it for writing";
    await using pair = FencedPair.byFolder();
    const { first, second, folder } = pair;
    using disk = new SmallDisk(folder, "size=8m");
    await first.start(false);
    first.client("acme");
    await first.stop();
    pair.copy();
    await first.restartOnSamePort();
    makeReadOnly(disk);
    await first.until(() =>
      first.log.some(({ event, trouble }) => event === "standby.lease_lapsed" && `${trouble}`.endsWith(reason)),
    );
    expect((await fetch(`${first.origin}/readyz`)).status).toBe(503);
    expect((await fetch(`${first.origin}/healthz`)).status).toBe(200);
    const promoted = await second.cli("promote");
    expect([promoted.exitCode, promoted.stderr]).toEqual([1, expect.stringContaining(reason)]);
    disk.remount("rw");
    await first.until(() => first.log.filter(({ event }) => event === "standby.lease_held").length === 3);
    expect(await first.stop()).toBe(0);
  },
);
