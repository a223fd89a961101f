import { describe, expect, test } from "bun:test";
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { available, ffmpegPath, root } from "../../harness/checkout.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { defaultCacheRoot } from "../../native/build.ts";
import { builtFfmpeg } from "../../native/build-ffmpeg.ts";
import { DECODERS, DEMUXERS } from "../../native/ffmpeg/formats.ts";
import { digestFile, programFiles } from "../../src/program/index.ts";
import { partSources } from "../../tools/build/parts.ts";
import { isOwnFfmpeg } from "../../tools/development/ffmpeg.ts";

test("the lists of demuxers and decoders name each one once", () => {
  for (const names of [DEMUXERS, DECODERS]) {
    const whitelist = Object.values(names).flatMap((name) => name.split(","));
    expect(new Set(whitelist).size).toBe(whitelist.length);
    expect(whitelist.filter((name) => !/^[a-z0-9_]+$/.test(name))).toEqual([]);
  }
});

const built = available("the parts of the compiled program", ffmpegPath, join(root, "build/native/whisper.node"));
const own = built ? await builtFfmpeg(defaultCacheRoot(), process.arch) : null;

test("the documentation lists every demuxer and decoder that a recording can reach", async () => {
  const page = await Bun.file(join(root, "docs/security.md")).text();
  for (const [row, names] of [
    ["demuxers", DEMUXERS],
    ["decoders", DECODERS],
  ] as const) {
    expect(page).toContain(`| ${row} | ${Object.values(names).sort().join(", ")} |`);
  }
});

describe("the compiled program", () => {
  test.if(built)("contains no ffmpeg that was not compiled from the pinned sources", async () => {
    using directory = temporaryDirectory();
    const files = await programFiles("");
    for (const content of ["#!/bin/sh\n", ""]) {
      const ffmpeg = join(directory.path, "ffmpeg");
      await Bun.write(ffmpeg, content);
      const sha256 = await digestFile(ffmpeg, "sha256");
      expect(await isOwnFfmpeg(sha256, process.arch)).toBe(false);
      await expect(partSources(process.arch, { ...files, ffmpeg })).rejects.toThrow(sha256);
    }
  });

  test.if(own !== null)("contains the ffmpeg of the checkout and the program that confines it", async () => {
    expect(realpathSync(ffmpegPath)).toBe(realpathSync(own ?? ""));
    const parts = await partSources(process.arch);
    const executable = parts.filter(({ path }) => path.startsWith("ffmpeg/"));
    expect(executable.map(({ path, executable }) => [path, executable])).toEqual([
      ["ffmpeg/confine", true],
      ["ffmpeg/ffmpeg", true],
    ]);
  });
});
