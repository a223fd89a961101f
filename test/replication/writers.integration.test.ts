import { expect, test } from "bun:test";
import { join } from "node:path";
import { FollowedDirectory } from "./followed-directory.ts";

const WRITERS = 3;
const NOTES = 1500;

test("a standby gets every transaction of several programs that write, and copy the log, at the same time", async () => {
  await using pair = new FollowedDirectory();
  pair.connect();
  await pair.confirmed();
  const writers = Array.from({ length: WRITERS }, (_, index) =>
    Bun.spawn(
      [process.execPath, join(import.meta.dir, "write-notes.ts"), pair.server.databasePath, `${NOTES}`, `${index}`],
      { stdout: "inherit", stderr: "inherit" },
    ),
  );
  let restarts = 0;
  const done = Promise.all(writers.map(({ exited }) => exited));
  let isDone = false;
  void done.then(() => {
    isDone = true;
  });
  while (!isDone) {
    if (await pair.source.emptyLog()) restarts += 1;
    pair.notes();
    await Bun.sleep(1);
  }
  expect(await done).toEqual([0, 0, 0]);
  // The connection never ended, so nothing was repaired by a new copy.
  await pair.confirmed();
  expect(pair.source.status().standby).toBe("test");
  expect(restarts).toBeGreaterThan(0);
  expect(pair.notes().toSorted()).toEqual(
    writers.flatMap((_, index) => Array.from({ length: NOTES }, (_, count) => `${index} ${count}`)).toSorted(),
  );
  const { server, standby } = await pair.files();
  expect(standby.equals(server)).toBe(true);
}, 60_000);
