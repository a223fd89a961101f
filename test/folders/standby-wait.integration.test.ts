import { expect, test } from "bun:test";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { FolderBench, until } from "./folder-bench.ts";

test("a folder whose standby is away keeps its files, logs that once, and continues when the standby is back", async () => {
  using bench = await FolderBench.create({ formats: ["srt"] });
  bench.put("first.mp3", "audio one");
  await bench.visitSettled();
  await bench.complete();
  bench.standby.isThere = false;
  bench.put("second.mp3", "audio two");
  const watcher = bench.watch();
  await until(() => bench.folder.hindrance === "standby");
  const visitsBegin = bench.time;
  await until(() => ++bench.time > visitsBegin + 20);
  expect(watcher.overview().hindered).toEqual(new Map([["standby", 1]]));
  expect(bench.entries()).toEqual(["first.mp3", "second.mp3"]);
  expect(bench.recordingNames()).toEqual(["first"]);
  bench.standby.isThere = true;
  await until(() => bench.entries().includes("done/first.mp3") && bench.recordingNames().length === 2);
  await bench.complete();
  await until(() => bench.entries().includes("done/second.mp3"));
  await watcher.stop();
  expect(bench.folder.hindrance).toBeNull();
  expect(bench.log.filter((line) => line.includes("folder.hindered"))).toHaveLength(1);
});

test("a file leaves its folder only when the standby has its recording, so the next server takes it again, once", async () => {
  using temporary = temporaryDirectory();
  const root = temporary.path;
  const [data, standby] = [join(root, "data"), join(root, "standby")];
  {
    using bench = await FolderBench.create({ root, formats: ["srt"] });
    // The standby has nothing of what follows.
    bench.store.$client.run("PRAGMA wal_checkpoint(TRUNCATE)");
    cpSync(data, standby, { recursive: true });
    bench.put("talk.mp3", "audio of the talk");
    bench.put("letter.mp3", "no recording");
    await bench.visitSettled();
    await bench.complete();
    bench.standby.onConfirm = () => {
      bench.standby.isThere = false;
    };
    const visited = await bench.visit().then(
      () => null,
      (error: Error) => error.message,
    );
    expect(visited).toContain("waits for the standby");
    expect(bench.entries()).toEqual(["letter.mp3", "talk.mp3"]);
  }
  rmSync(data, { recursive: true });
  cpSync(standby, data, { recursive: true });
  using next = new FolderBench({ root });
  await next.finish();
  expect(next.recordingNames()).toEqual(["talk"]);
  expect(next.entries()).toEqual(["done/talk.mp3", "failed/letter.mp3", "failed/letter.mp3.txt", "talk.srt"]);
});
