import { describe, expect, test } from "bun:test";
import { available, ffmpegPath } from "../../harness/checkout.ts";
import { ffmpegSources } from "../../native/build-ffmpeg.ts";
import { CORRECTIONS, DECODERS, DEMUXERS, GUESSED_DEMUXERS } from "../../native/ffmpeg/formats.ts";
import { type BuildInfo, buildInfo, digestFile } from "../../src/program/index.ts";
import { askFfmpeg, ffmpegNotice, readFfmpeg } from "../../tools/build/ffmpeg-notice.ts";
import { isOwnFfmpeg } from "../../tools/development/ffmpeg.ts";

const build = async (ffmpeg: string): Promise<BuildInfo> => ({ ...(await buildInfo()), ffmpeg });
const report = {
  version: "ffmpeg version 7.1.5\nconfiguration: --disable-everything",
  licence: "ffmpeg is free software; you can redistribute it under version 2.1 of the License",
};
const sha256 = "a".repeat(64);
const origins = [...Object.values(ffmpegSources).map((source) => source.sha256), "GNU LESSER GENERAL PUBLIC LICENSE"];

describe("the notice of ffmpeg", () => {
  test("of the compiled one has its report, its sources and the licences of all its parts", async () => {
    const notice = ffmpegNotice(await build("7.1.5"), report, { sha256, isOwn: true });
    expect(notice.licence).toStartWith("LGPL-2.1-or-later");
    for (const part of [
      sha256,
      report.version,
      report.licence,
      "Xiph.Org",
      "Jean-loup Gailly",
      ...origins,
      ...CORRECTIONS.map(({ file }) => file),
    ]) {
      expect(notice.text).toContain(part);
    }
  });

  test("of another build claims no origin and no licence", async () => {
    const notice = ffmpegNotice(await build("7.1.5"), report, { sha256, isOwn: false });
    expect(notice).toMatchObject({ licence: "as it reports below", source: "unknown" });
    for (const part of [sha256, report.version, report.licence]) expect(notice.text).toContain(part);
    for (const claim of origins) expect(notice.text).not.toContain(claim);
  });
});

const own =
  available("the compiled ffmpeg", ffmpegPath) &&
  (await isOwnFfmpeg(await digestFile(ffmpegPath, "sha256"), process.arch));

describe.if(own)("the compiled ffmpeg", () => {
  const list = async (option: string) => {
    const child = Bun.spawn([ffmpegPath, "-hide_banner", option], { stdout: "pipe", stderr: "ignore" });
    const lines = (await child.stdout.text()).split("\n");
    return lines.flatMap((line) => /^ +[A-Z.]+ +([^=\s]\S*) /.exec(line)?.[1] ?? []);
  };

  test("reports the LGPL and its own version, and its file has the same report", async () => {
    const asked = await askFfmpeg(ffmpegPath);
    expect(asked.version).toStartWith(`ffmpeg version ${ffmpegSources.ffmpeg.version} `);
    expect(asked.version).not.toMatch(/--enable-(gpl|version3|nonfree)/);
    expect(asked.licence).toContain("GNU Lesser General Public");
    const { version, licence } = await readFfmpeg(ffmpegPath);
    expect(asked.version).toContain(version?.split("\n")[1] ?? "no configuration");
    expect(licence).toBe(asked.licence);
  });

  test("has exactly the demuxers and decoders that read recordings", async () => {
    expect((await list("-demuxers")).sort()).toEqual([...Object.values(DEMUXERS), ...GUESSED_DEMUXERS].sort());
    expect((await list("-decoders")).sort()).toEqual(Object.values(DECODERS).sort());
  });

  test("has no network, no devices, no pictures and two encoders", async () => {
    expect(await list("-encoders")).toEqual(["libopus", "pcm_s16le"]);
    expect((await list("-muxers")).sort()).toEqual(["framecrc", "s16le", "webm"]);
    expect(await list("-devices")).toEqual([]);
    const child = Bun.spawn([ffmpegPath, "-hide_banner", "-protocols"], { stdout: "pipe", stderr: "ignore" });
    const protocols = (await child.stdout.text()).match(/^ {2}\w+$/gm)?.map((name) => name.trim());
    expect([...new Set(protocols)].sort()).toEqual(["file", "pipe"]);
  });
});
