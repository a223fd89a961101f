import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { changeAccount, deleteAccount, requireAccount } from "../../src/accounts/index.ts";
import { type FolderWatcher, listFolders } from "../../src/folders/index.ts";
import { FolderBench, until } from "./folder-bench.ts";

const operator = { actor: "operator", now: 0 };
const running: FolderWatcher[] = [];

function watch(bench: FolderBench, options?: Parameters<FolderBench["watch"]>[0]): FolderWatcher {
  const watcher = bench.watch(options);
  running.push(watcher);
  return watcher;
}

afterEach(async () => {
  for (const watcher of running.splice(0)) await watcher.stop();
});

describe("a watcher of folders", () => {
  test("pauses while the account may create no recordings, says so, and continues", async () => {
    using bench = await FolderBench.create();
    const account = requireAccount(bench.store, "acme");
    changeAccount(bench.store, account, operator, { standing: "restricted" });
    bench.put("talk.mp3", "audio");
    const watcher = watch(bench);
    await until(() => bench.folder.hindrance === "account");
    expect(bench.folder.hinderedSince).not.toBeNull();
    expect(watcher.overview().hindered).toEqual(new Map([["account", 1]]));
    changeAccount(bench.store, account, operator, { standing: "active" });
    await until(() => bench.recordings.open.counts().queued === 1);
    await bench.complete();
    await until(() => bench.folder.done === 1);
    await until(() => bench.folder.hindrance === null);
    expect(watcher.overview()).toEqual({ folders: 1, waiting: 0, hindered: new Map(), done: 1, failed: 0 });
    expect(bench.log.filter((line) => line.includes("folder.hindered"))).toHaveLength(1);
    await watcher.stop();
  });

  test("does not visit a folder of an earlier version that belongs to the program, and says why", async () => {
    using bench = await FolderBench.create();
    bench.put("talk.mp3", "audio");
    const place = { path: join(bench.path, "settings.toml"), what: "the settings file", isFile: true };
    const watcher = watch(bench, { own: () => [place] });
    await until(() => bench.folder.hindrance === "closed");
    expect(watcher.overview().hindered).toEqual(new Map([["closed", 1]]));
    expect(bench.log.filter((line) => line.includes('"hindrance":"closed"'))).toHaveLength(1);
    await watcher.stop();
    expect([bench.entries(), bench.recordingNames()]).toEqual([["talk.mp3"], []]);
  });

  test("gives the folders of one account their turns", async () => {
    using bench = await FolderBench.create();
    const other = join(bench.root, "other");
    mkdirSync(other);
    await bench.add(other);
    bench.setLimits({ recordings_per_account: 1 });
    for (let file = 0; file < 20; file++) {
      bench.put(`a${file}.mp3`, `audio ${file}`);
      writeFileSync(join(other, `b${file}.mp3`), `audio ${file}`);
    }
    const watcher = watch(bench);
    while (bench.recordingNames().length < 18) await Bun.sleep(5).then(() => bench.complete());
    await watcher.stop();
    const fromOther = bench.recordingNames().filter((name) => name?.startsWith("b")).length;
    expect(fromOther).toBeGreaterThan(2);
    expect(fromOther).toBeLessThan(bench.recordingNames().length - 2);
  });

  test("drops a folder that is removed, also while a file of it is transcribed", async () => {
    using bench = await FolderBench.create();
    bench.put("talk.mp3", "audio");
    const watcher = watch(bench);
    await until(() => bench.recordings.open.counts().queued === 1);
    await bench.remove();
    await until(() => watcher.overview().folders === 0);
    await bench.complete();
    expect(bench.entries()).toEqual(["talk.mp3"]);
    expect(bench.log.filter((line) => line.includes('"level":50'))).toEqual([]);
    await watcher.stop();
  });

  test("ends its work on a folder that is removed before it works on the same folder, added again", async () => {
    using bench = await FolderBench.create({ formats: ["srt"] });
    const { exports } = bench.services;
    const [reached, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const make: typeof exports.make = async (...args) => {
      reached.resolve();
      await opened.promise;
      return exports.make(...args);
    };
    bench.services = { ...bench.services, exports: { make } };
    bench.put("talk.mp3", "audio");
    const watcher = watch(bench);
    await until(() => bench.recordings.open.counts().queued === 1);
    await bench.complete();
    await reached.promise;
    await bench.remove();
    await until(() => watcher.overview().folders === 0);
    await bench.add(bench.path, { confirmedFiles: 1 });
    opened.resolve();
    await until(() => bench.recordings.open.counts().queued === 1);
    await bench.complete();
    await until(() => bench.folder.done === 1);
    await watcher.stop();
    expect([bench.recordingNames(), bench.entries()]).toEqual([
      ["talk", "talk"],
      ["done/talk.mp3", "talk.srt"],
    ]);
  });

  test("removes the marker of a folder whose account is deleted", async () => {
    using bench = await FolderBench.create();
    const watcher = watch(bench);
    await until(() => bench.folder.seenAt !== null);
    await deleteAccount(bench.store, requireAccount(bench.store, "acme"), operator);
    await until(() => !existsSync(join(bench.path, ".transcribe-folder")));
    await watcher.stop();
  });

  test("reports a folder whose visit makes no progress for minutes", async () => {
    using bench = await FolderBench.create();
    bench.put("talk.mp3", "audio");
    let time = 0;
    const hanging = Promise.withResolvers<void>();
    const make: typeof bench.services.exports.make = (_, signal) => {
      hanging.resolve();
      const { promise, reject } = Promise.withResolvers<never>();
      signal.addEventListener("abort", () => reject(signal.reason));
      return promise;
    };
    bench.services = { ...bench.services, exports: { make } };
    const watcher = watch(bench, { clock: () => time });
    await until(() => bench.recordings.open.counts().queued === 1);
    await bench.complete();
    await hanging.promise;
    expect(bench.folder.hindrance).toBeNull();
    time += 6 * 60_000;
    await until(() => bench.folder.hindrance === "silent");
    await watcher.stop();
    expect(bench.files.open(bench.folder.id)).toMatchObject([{ state: "delivering" }]);
  });

  test("works on the other folders while one is missing", async () => {
    using bench = await FolderBench.create();
    const other = join(bench.root, "other");
    mkdirSync(other);
    await bench.add(other);
    rmSync(bench.path, { recursive: true });
    writeFileSync(join(other, "talk.mp3"), "audio");
    const watcher = watch(bench);
    await until(() => bench.recordings.open.counts().queued === 1);
    await until(() => listFolders(bench.store)[0]?.hindrance === "missing");
    await watcher.stop();
  });
});
