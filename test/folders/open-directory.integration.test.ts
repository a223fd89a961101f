import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { link } from "node:fs/promises";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import type { FileSystem } from "../../src/folders/file-calls.ts";
import { readMarker, writeMarker } from "../../src/folders/marker.ts";
import { MovedError, OpenDirectory } from "../../src/folders/open-directory.ts";
import { writeOnce } from "../../src/folders/write-once.ts";
import { ownFileSystem } from "./own-file-system.ts";

async function inDirectory(use: (directory: OpenDirectory, path: string) => Promise<void>): Promise<void> {
  using temporary = temporaryDirectory();
  const path = realpathSync(temporary.path);
  await using directory = await OpenDirectory.open(path, ownFileSystem);
  await use(directory, path);
}

describe("an open directory", () => {
  test.each([
    ["with hard links", link],
    ["without hard links", () => Promise.reject(Object.assign(new Error("not supported"), { code: "EOPNOTSUPP" }))],
  ])("publishes a file under a free name alone, on a file system %s", (_, linkFile) =>
    inDirectory(async (directory, path) => {
      writeFileSync(join(path, "new"), "new");
      writeFileSync(join(path, "taken"), "old");
      symlinkSync("nowhere", join(path, "link"));
      expect(await directory.publish("new", "taken", linkFile)).toBe(false);
      expect(await directory.publish("new", "link", linkFile)).toBe(false);
      expect(await directory.publish("new", "free", linkFile)).toBe(true);
      expect(readdirSync(path).sort()).toEqual(["free", "link", "taken"]);
      for (const name of ["a", "b"]) writeFileSync(join(path, name), name);
      const published = await Promise.all(["a", "b"].map((name) => directory.publish(name, "one", linkFile)));
      expect(published.toSorted()).toEqual([false, true]);
      expect([readFileSync(join(path, "free"), "utf8"), readFileSync(join(path, "taken"), "utf8")]).toEqual([
        "new",
        "old",
      ]);
    }),
  );

  test("stays the same directory when its path is given to another one", () =>
    inDirectory(async (parent, path) => {
      mkdirSync(join(path, "a"));
      await using directory = await parent.subdirectory("a");
      expect(await parent.move("a", parent, "b")).toBe(true);
      mkdirSync(join(path, "a"));
      await (await directory.createFile("x")).close();
      expect([readdirSync(join(path, "a")), readdirSync(join(path, "b"))]).toEqual([[], ["x"]]);
    }));

  test("is never reached through a link, neither itself nor by a part of its path", () =>
    inDirectory(async (directory, path) => {
      mkdirSync(join(path, "real/inner"), { recursive: true });
      symlinkSync("real", join(path, "link"));
      for (const way of ["link", "link/inner"]) {
        await expect(OpenDirectory.open(join(path, way), ownFileSystem)).rejects.toThrow(MovedError);
      }
      await expect(directory.subdirectory("link")).rejects.toThrow("ENOTDIR");
      await expect(directory.openFile("link")).rejects.toThrow("ELOOP");
    }));

  test("changes no permissions behind a link that replaces its new marker", () =>
    inDirectory(async (_, path) => {
      const victim = join(path, "victim");
      writeFileSync(victim, "", { mode: 0o600 });
      const files: FileSystem = {
        async call(name, ...args) {
          const result = await ownFileSystem.call(name, ...args);
          if (name === "createFile") {
            renameSync(join(path, ".transcribe-folder"), join(path, "stolen"));
            symlinkSync(victim, join(path, ".transcribe-folder"));
          }
          return result;
        },
      };
      await using directory = await OpenDirectory.open(path, files);
      await writeMarker(directory, "id");
      expect(statSync(victim).mode & 0o777).toBe(0o600);
    }));

  test.if(process.getuid?.() === 0)("gives away no directory that replaces the new one", () =>
    inDirectory(async (_, path) => {
      chownSync(path, 4321, 4321);
      mkdirSync(join(path, "victim"));
      chownSync(join(path, "victim"), 1234, 1234);
      const files: FileSystem = {
        async call(name, ...args) {
          const result = await ownFileSystem.call(name, ...args);
          if (name === "makeDirectory") {
            renameSync(join(path, "done"), join(path, "stolen"));
            renameSync(join(path, "victim"), join(path, "done"));
          }
          return result;
        },
      };
      await using directory = await OpenDirectory.open(path, files);
      await (await directory.subdirectory("done"))[Symbol.asyncDispose]();
      expect(statSync(join(path, "done")).uid).toBe(1234);
    }),
  );

  test("has no marker if a directory, a pipe or a link has its name", () =>
    inDirectory(async (directory, path) => {
      const marker = join(path, ".transcribe-folder");
      for (const make of [
        () => mkdirSync(marker),
        () => Bun.spawnSync(["mkfifo", marker]),
        () => symlinkSync("/etc/hostname", marker),
      ]) {
        make();
        expect(await readMarker(directory)).toBeNull();
        rmSync(marker, { recursive: true });
      }
    }));

  test("passes its sticky bit on to done and failed", () =>
    inDirectory(async (directory, path) => {
      chmodSync(path, 0o1777);
      await (await directory.subdirectory("done"))[Symbol.asyncDispose]();
      expect(statSync(join(path, "done")).mode & 0o7777).toBe(0o1777);
    }));
});

describe("a result on a file system without hard links", () => {
  test.each([["fails", ["rename"]] as const, ["meets a crash", ["rename", "remove"]] as const])(
    "is written under its name when its last step %s at first",
    (_, failing) =>
      inDirectory(async (__, path) => {
        let failures: readonly string[] = [];
        const files: FileSystem = {
          call(name, ...args) {
            if (name === "createFile") failures = failing;
            const error = Object.assign(new Error("an input or output error"), { code: "EIO" });
            const fails = name === "link" || (failures.includes(name) && !isRepeated);
            return fails ? Promise.reject(error) : ownFileSystem.call(name, ...args);
          },
        };
        let isRepeated = false;
        await using directory = await OpenDirectory.open(path, files);
        const owner = { userId: 0, groupId: 0, mode: 0o644 };
        const result = { name: "a.srt", content: Buffer.from("a"), owner, temporaryName: ".part" };
        await expect(writeOnce(directory, [result])).rejects.toThrow("output error");
        isRepeated = true;
        await writeOnce(directory, [result]);
        expect([readdirSync(path), readFileSync(join(path, "a.srt"), "utf8")]).toEqual([["a.srt"], "a"]);
      }),
  );
});

describe.if(process.getuid?.() === 0)("a result without the group of its source", () => {
  test.each([
    ["is readable for its group if the source is for everybody", 0o644, 0o777, 0o644],
    ["is closed to its group if the source is closed to others", 0o640, 0o777, 0o600],
    ["is never more accessible than its directory", 0o666, 0o2750, 0o640],
  ])("%s", (_, mode, directoryMode, expected) =>
    inDirectory(async (__, path) => {
      chmodSync(path, directoryMode);
      chownSync(path, 0, 4321);
      const denied = Object.assign(new Error("not permitted"), { code: "EPERM" });
      const files: FileSystem = {
        call: (name, ...args) => (name === "chown" ? Promise.reject(denied) : ownFileSystem.call(name, ...args)),
      };
      await using directory = await OpenDirectory.open(path, files);
      const owner = { userId: 0, groupId: 8765, mode };
      await writeOnce(directory, [{ name: "a.srt", content: Buffer.from("a"), owner, temporaryName: ".part" }]);
      expect(statSync(join(path, "a.srt")).mode & 0o777).toBe(expected);
    }),
  );
});
