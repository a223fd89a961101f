import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readdirSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { tables } from "../../src/database/index.ts";
import { CopiesAtSteps } from "../support/copies-at-steps.ts";
import { FolderBench } from "./folder-bench.ts";
import { ownFileSystem } from "./own-file-system.ts";

setDefaultTimeout(120_000);

/** Calls that change the folder. */
const CHANGES: ReadonlySet<string> = new Set([
  ...["createFile", "write", "link", "rename", "remove", "makeDirectory", "sync"],
]);

test.each([["with links"], ["without links"]])(
  "a folder on a file system %s loses no file and does nothing twice, wherever the server is killed",
  async (links) => {
    using parent = temporaryDirectory();
    const root = join(parent.path, "root");
    const inodes: ReadonlyMap<string, string>[] = [];
    await fill(root);
    using copies = new CopiesAtSteps(root, { onCopy: (copy) => inodes.push(inodesOf(root, copy)) });
    await finish(root, links === "with links", copies);
    await expectFinishedOnce(root, -1);
    expect(copies.paths.length).toBeGreaterThan(30);
    // The database contains the path of the folder. So each copy takes the place of the original.
    for (const [step, copy] of copies.paths.entries()) {
      renameSync(root, join(parent.path, `former ${step}`));
      renameSync(copy, root);
      await expectFinishedOnce(root, step, inodes[step]);
    }
  },
);

async function fill(root: string): Promise<void> {
  mkdirSync(root);
  using bench = await FolderBench.create({ root });
  bench.put("talk.mp3", "audio of the talk");
  bench.put("letter.mp3", "no recording");
}

/** Processes the folder until nothing is left to do. */
async function finish(root: string, hasLinks: boolean, copies: CopiesAtSteps): Promise<void> {
  using bench = new FolderBench({ root });
  bench.services = {
    ...bench.services,
    fileSystemOf: () => ({
      call(name, ...args) {
        if (CHANGES.has(name)) copies.step();
        const isMissing = name === "link" && !hasLinks;
        if (isMissing) return Promise.reject(Object.assign(new Error("not supported"), { code: "EOPNOTSUPP" }));
        return ownFileSystem.call(name, ...args);
      },
    }),
  };
  await bench.finish();
  copies.end();
}

/** Returns the inodes of the copied files of the folder, by those of the originals. */
function inodesOf(root: string, copy: string): ReadonlyMap<string, string> {
  const inodeOf = (path: string) => String(statSync(path, { bigint: true }).ino);
  const names = readdirSync(join(root, "in"), { recursive: true, encoding: "utf8" });
  return new Map(names.map((name) => [inodeOf(join(root, "in", name)), inodeOf(join(copy, "in", name))]));
}

async function expectFinishedOnce(root: string, step: number, inodes?: ReadonlyMap<string, string>): Promise<void> {
  using bench = new FolderBench({ root });
  // After a kill, the files would still have the inodes that the database contains.
  const { folderFiles } = tables;
  for (const { id, inode } of bench.store.select().from(folderFiles).all()) {
    const copied = inodes === undefined ? inode : (inodes.get(inode) ?? "removed");
    bench.store.update(folderFiles).set({ inode: copied }).where(eq(folderFiles.id, id)).run();
  }
  await bench.finish();
  expect([step, bench.recordingNames()]).toEqual([step, ["talk"]]);
  expect([step, bench.entries()]).toEqual([
    step,
    ["done/talk.mp3", "failed/letter.mp3", "failed/letter.mp3.txt", "talk.json", "talk.srt"],
  ]);
  expect([step, bench.read("done/talk.mp3")]).toEqual([step, "audio of the talk"]);
  expect(bench.folder).toMatchObject({ done: 1, failed: 1 });
  expect(bench.entries(bench.dataDirectory.incoming)).toEqual([]);
}
