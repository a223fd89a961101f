import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { runCli } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { requireAccount } from "../../src/accounts/index.ts";
import { FileProcesses } from "../../src/folders/file-processes.ts";
import { addFolder, FolderError, type FolderWatcher, listFolders, removeFolder } from "../../src/folders/index.ts";
import { canHang, HangingDisk } from "../support/hanging-disk.ts";
import { FolderBench, until } from "./folder-bench.ts";

setDefaultTimeout(180_000);

const operator = { actor: "operator", now: 0 };
const checksShape = Type.Object({
  checks: Type.Array(Type.Object({ id: Type.String(), status: Type.String(), detail: Type.Array(Type.String()) })),
});

const stacks: AsyncDisposableStack[] = [];
afterEach(async () => {
  for (const each of stacks.splice(0)) await each.disposeAsync();
});

/** Creates a bench whose folder is on a file system that can stop answering. */
async function benchOnDisk(): Promise<{ bench: FolderBench; disk: HangingDisk }> {
  const own = new AsyncDisposableStack();
  stacks.push(own);
  const directory = own.adopt(temporaryDirectory(), (each) => each[Symbol.dispose]());
  const root = realpathSync(directory.path);
  mkdirSync(join(root, "in"));
  const disk = own.use(await HangingDisk.mount(join(root, "in")));
  return { bench: own.use(await FolderBench.create({ root })), disk };
}

/** The processes of a file system that counts as silent after a short time. */
const shortProcesses = (silentMilliseconds = 1000) => new FileProcesses({ silentMilliseconds });

function watch(bench: FolderBench, processes = shortProcesses()): FolderWatcher {
  const watcher = bench.watch({ processes });
  stacks.at(-1)?.defer(() => watcher.stop());
  return watcher;
}

describe.if(canHang)("folders that write to one directory on a file system without hard links", () => {
  test("replace no results of each other", async () => {
    const { bench } = await benchOnDisk();
    const results = join(bench.path, "results");
    const folders = ["one", "two"].map((name) => join(bench.root, name));
    mkdirSync(results);
    await bench.remove();
    bench.setLimits({ recordings_per_account: 100, creates_per_hour: 100 });
    const names = Array.from({ length: 8 }, (_, index) => `talk ${index}.mp3`);
    for (const path of folders) {
      mkdirSync(path);
      await bench.add(path, { target: results });
      for (const name of names) writeFileSync(join(path, name), `audio ${name} ${basename(path)}`);
    }
    const watcher = watch(bench, new FileProcesses());
    await until(() => bench.recordingNames().length === 2 * names.length);
    await bench.complete();
    await until(() => listFolders(bench.store).every(({ done }) => done === names.length));
    await watcher.stop();
    expect(bench.entries(results)).toHaveLength(2 * names.length);
  });
});

describe.if(canHang)("a folder on a mount that does not answer", () => {
  test("is reported by list and doctor, delays no other, and is finished once when the mount answers", async () => {
    const { bench, disk } = await benchOnDisk();
    const other = join(bench.root, "other");
    mkdirSync(other);
    await bench.add(other);
    bench.put("talk.mp3", "audio of the talk");
    const watcher = watch(bench);
    await until(() => bench.recordingNames().includes("talk"));
    disk.hang();
    await bench.complete();
    await until(() => listFolders(bench.store)[0]?.hindrance === "silent");
    writeFileSync(join(other, "other.mp3"), "audio");
    await until(() => bench.recordingNames().includes("other"));
    await bench.complete();
    await until(() => listFolders(bench.store)[1]?.done === 1);

    const command = (...args: readonly string[]) => runCli([...args, "--data-dir", bench.dataDirectory.root]);
    expect((await command("folders", "list")).stdout).toContain("the file system does not answer (since ");
    const { checks } = Value.Parse(checksShape, JSON.parse((await command("doctor", "--json")).stdout));
    expect(checks.find(({ id }) => id === "folders.watched")).toMatchObject({
      ...{ status: "problem", detail: [`${bench.path}: the file system does not answer`] },
    });

    disk.resume();
    await until(() => listFolders(bench.store)[0]?.done === 1);
    await until(() => listFolders(bench.store)[0]?.hindrance === null);
    await watcher.stop();
    expect([bench.recordingNames(), bench.entries()]).toEqual([
      ["talk", "other"],
      ["done/talk.mp3", "talk.json", "talk.srt"],
    ]);
  });

  test("does not keep a server from stopping, and its successor continues", async () => {
    const { bench, disk } = await benchOnDisk();
    bench.put("talk.mp3", "audio of the talk");
    const first = watch(bench);
    await until(() => bench.recordingNames().includes("talk"));
    disk.hang();
    await bench.complete();
    await first.stop();
    const second = watch(bench);
    await until(() => bench.folder.hindrance === "silent");
    disk.resume();
    await until(() => bench.folder.done === 1);
    await second.stop();
    expect([bench.recordingNames(), bench.entries()]).toEqual([["talk"], ["done/talk.mp3", "talk.json", "talk.srt"]]);
  });

  test("ends the commands that add and remove it, with what to do", async () => {
    const { bench, disk } = await benchOnDisk();
    const account = requireAccount(bench.store, "acme");
    const add = (path: string, target?: string, processes = shortProcesses(300)) => {
      const folder = { account, path, target, formats: ["vtt"] as const };
      return addFolder(bench.store, bench.own, folder, operator, processes);
    };
    const other = join(bench.root, "other");
    mkdirSync(other);
    const fresh = join(bench.path, "fresh");
    mkdirSync(fresh);
    disk.hang();
    for (const [path, target] of [[bench.path], [fresh], [other, fresh]] as const) {
      const error = await add(path, target).catch((thrown: unknown) => thrown);
      expect([error, String(error)]).toEqual([
        expect.any(FolderError),
        expect.stringContaining("does not answer; check"),
      ]);
    }
    expect(listFolders(bench.store)).toMatchObject([{ path: bench.path, formats: ["srt", "json"] }]);
    const marker = await removeFolder(bench.store, bench.path, operator, shortProcesses(300));
    expect([marker, listFolders(bench.store)]).toEqual([join(bench.path, ".transcribe-folder"), []]);
    disk.resume();
    await expect(add(bench.path, undefined, new FileProcesses())).rejects.toThrow("delete the file");
  });
});
