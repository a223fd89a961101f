import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { partSources } from "../../scripts/support/build/parts.ts";
import { cachedFfmpeg, pinnedFfmpegDigests } from "../../scripts/support/ffmpeg.ts";
import { programFiles } from "../../src/program/index.ts";
import { available, ffmpegPath, root } from "../support/checkout.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

/** Stores a program in a cache under its SHA-256, as setup does. */
function putIntoCache(cacheRoot: string, content: string, sha256 = digestOf(content)): string {
  const path = join(cacheRoot, "ffmpeg", sha256, "ffmpeg");
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, content, { mode: 0o755 });
  return path;
}

function digestOf(content: string): string {
  return createHash("sha256").update(content).digest("hex");
}

describe("the cache's ffmpeg", () => {
  test("is used only with the pinned digest; other entries are ignored and kept", async () => {
    using directory = temporaryDirectory();
    const other = putIntoCache(directory.path, "#!/bin/sh\necho ffmpeg version 1\n");
    const context = { cacheRoot: directory.path, log: () => {} };
    for (const architecture of ["x64", "arm64", "riscv64"]) {
      expect(await cachedFfmpeg(context, architecture)).toBeUndefined();
    }
    expect(existsSync(other)).toBe(true);
  });

  test("is removed when its content does not match its name", async () => {
    using directory = temporaryDirectory();
    const log: string[] = [];
    const damaged = putIntoCache(directory.path, "another program", pinnedFfmpegDigests.arm64);
    const context = { cacheRoot: directory.path, log: (line: string) => void log.push(line) };
    expect(await cachedFfmpeg(context, "arm64")).toBeUndefined();
    expect(log).toEqual([expect.stringContaining("damaged")]);
    expect(existsSync(damaged)).toBe(false);
  });

  test.if(available("the ffmpeg of a checkout", ffmpegPath))(
    "is the ffmpeg that a checkout links after fetching it",
    async () => {
      using directory = temporaryDirectory();
      const sha256 = pinnedFfmpegDigests[process.arch] ?? "";
      const path = join(directory.path, "ffmpeg", sha256, "ffmpeg");
      mkdirSync(join(path, ".."), { recursive: true });
      copyFileSync(realpathSync(ffmpegPath), path);
      const isPinned = new Bun.CryptoHasher("sha256").update(await Bun.file(path).bytes()).digest("hex") === sha256;
      const found = await cachedFfmpeg({ cacheRoot: directory.path, log: () => {} }, process.arch);
      expect(found).toBe(isPinned ? path : undefined);
    },
  );
});

describe("the compiled program", () => {
  const built = available("the parts of the compiled program", ffmpegPath, join(root, "build/native/whisper.node"));

  test.if(built)("contains no ffmpeg without a pinned digest, wherever it is stored", async () => {
    using directory = temporaryDirectory();
    const files = await programFiles("");
    for (const content of ["#!/bin/sh\n", ""]) {
      const ffmpeg = putIntoCache(directory.path, content);
      await expect(partSources(process.arch, { ...files, ffmpeg })).rejects.toThrow(digestOf(content));
    }
    // The pinned build for another architecture is refused, too.
    await expect(partSources(process.arch === "x64" ? "arm64" : "x64", files)).rejects.toThrow("not the pinned build");
  });

  test.if(built)("contains the pinned ffmpeg and the program that confines it, both executable", async () => {
    const parts = await partSources(process.arch);
    const executable = parts.filter(({ path }) => path.startsWith("ffmpeg/"));
    expect(executable.map(({ path, executable }) => [path, executable])).toEqual([
      ["ffmpeg/confine", true],
      ["ffmpeg/ffmpeg", true],
    ]);
  });
});
