import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { environmentWith, killedWithParent, lines } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { endStandby, untilPromoted } from "../../src/standby/end-standby.ts";
import { DataDirectory } from "../../src/storage/index.ts";

setDefaultTimeout(60_000);

/** Starts a process that holds the lock of a data directory. @param word is on its command line */
async function hold(directory: DataDirectory, word: string) {
  const command = [process.execPath, join(import.meta.dir, "hold-directory.ts"), directory.root, word];
  const child = Bun.spawn(killedWithParent(command), { env: environmentWith({}), stdout: "pipe" });
  for await (const line of lines(child.stdout)) if (line === "locked") break;
  return child;
}

describe("a promotion", () => {
  test.concurrent("ends the standby's process, and has the lock of its data directory", async () => {
    using folder = temporaryDirectory();
    const directory = new DataDirectory(folder.path);
    const child = await hold(directory, "standby");
    const unlock = await endStandby(directory);
    expect(await child.exited).toBe(0);
    expect(() => directory.lock()).toThrow("another transcribe server uses");
    unlock();
    directory.lock()();
  });

  test.concurrent("is waited for by the standby that it has ended, as long as its process runs", async () => {
    using folder = temporaryDirectory();
    const directory = new DataDirectory(folder.path);
    await untilPromoted(directory);
    const child = await hold(directory, "promote");
    writeFileSync(join(directory.state, "promotion.pid"), `${child.pid}\n`);
    let isOver = false;
    const waiting = untilPromoted(directory).then(() => {
      isOver = true;
    });
    await Bun.sleep(200);
    expect(isOver).toBe(false);
    child.kill("SIGKILL");
    await waiting;
    await child.exited;
  });

  test.concurrent("ends no other process, although it has the id of a standby that has ended", async () => {
    using folder = temporaryDirectory();
    const directory = new DataDirectory(folder.path);
    const child = await hold(directory, "other");
    await expect(endStandby(directory)).rejects.toThrow("another process uses");
    expect(child.exitCode).toBeNull();
    child.kill();
    await child.exited;
    (await endStandby(directory))();
  });
});
