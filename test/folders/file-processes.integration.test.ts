import { afterEach, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FileProcesses } from "../../src/folders/file-processes.ts";
import { listFolders } from "../../src/folders/index.ts";
import { readMarker } from "../../src/folders/marker.ts";
import { OpenDirectory } from "../../src/folders/open-directory.ts";
import { FolderBench, until } from "./folder-bench.ts";

const stack: (() => unknown)[] = [];
afterEach(async () => {
  for (const release of stack.splice(0).reverse()) await release();
});

/** Creates processes for which every path is a mount of its own, and that may be silent for a short time. */
function processesOfPaths(silentMilliseconds = 1000): FileProcesses {
  const processes = new FileProcesses({ silentMilliseconds, mountOf: (path) => path });
  stack.push(() => processes.stop());
  return processes;
}

describe("a process for files", () => {
  test("reads, writes and reports errors as the file system does", async () => {
    using bench = await FolderBench.create();
    await using directory = await OpenDirectory.open(bench.path, processesOfPaths(20_000).at(bench.path));
    const content = Buffer.alloc(3_000_000, "x");
    await using file = await directory.createFile("new");
    await file.write(content);
    expect(await directory.publish("new", "talk.mp3")).toBe(true);
    await using read = (await directory.openFile("talk.mp3")).handle;
    expect((await read.read(0, 4_000_000)).equals(content)).toBe(true);
    expect(await directory.entries()).toEqual({ entries: [{ name: "talk.mp3", isDirectory: false }], excess: 0 });
    expect(await directory.describe("none")).toBeNull();
    await expect(directory.createFile("talk.mp3")).rejects.toMatchObject({ code: "EEXIST" });
  });

  test("that does not answer is killed, and its calls fail as silent", async () => {
    using bench = await FolderBench.create();
    const processes = processesOfPaths();
    const started = processes.at(bench.path);
    const directory = await OpenDirectory.open(bench.path, started);
    process.kill(started.pid, "SIGSTOP");
    const calls = [directory.entries(), directory.describe("a")].map((call) => call.catch((error) => error.hindrance));
    expect(await Promise.all(calls)).toEqual(["silent", "silent"]);
    await expect(directory.entries()).rejects.toMatchObject({ hindrance: expect.any(String) });
    await directory[Symbol.asyncDispose]();
    await until(() => started.state === "exited");
    await using again = await OpenDirectory.open(bench.path, processes.at(bench.path));
    expect(await readMarker(again)).toBe(bench.folder.id);
  });
});

describe("a folder whose file system does not answer", () => {
  test("is reported, gives back its place and its disk space, and delays no other folder", async () => {
    using bench = await FolderBench.create();
    const other = join(bench.root, "other");
    mkdirSync(other);
    await bench.add(other);
    // Requests keep a fifth of the places, and so one file at a time is taken.
    bench.setLimits({ recordings_per_account: 2 });
    const processes = processesOfPaths();
    const { diskSpace } = bench.services;
    let reserved = 0;
    const reserve: typeof bench.services.diskSpace.reserve = (...args) => {
      const reservation = diskSpace.reserve(...args);
      // The copy of this file has begun.
      if (args[0] === 3_000_005) process.kill(processes.at(bench.path).pid, "SIGSTOP");
      reserved += 1;
      return {
        written: (bytes) => reservation.written(bytes),
        [Symbol.dispose]() {
          reserved -= 1;
          reservation[Symbol.dispose]();
        },
      };
    };
    bench.put("talk.mp3", `audio${"x".repeat(3_000_000)}`);
    const watcher = bench.watch({ diskSpace: { reserve, capacityBytes: () => Number.POSITIVE_INFINITY }, processes });
    stack.push(() => watcher.stop());
    await until(() => listFolders(bench.store)[0]?.hindrance === "silent");
    writeFileSync(join(other, "other.mp3"), "audio");
    await until(() => bench.recordingNames().includes("other"));
    await watcher.stop();
    expect(reserved).toBe(0);
  });
});
