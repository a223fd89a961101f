import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { BuildInfo } from "./build-info.ts";
import { checkout } from "./checkout.ts";
import type { FfmpegWords } from "./ffmpeg-words.ts";
import type { Notice } from "./notices.ts";

/**
 * SHA-256 of the ffmpeg in a compiled program, by Node's name of the architecture. These are BtbN's static builds from
 * the wheels of imageio-ffmpeg 0.8.1. scripts/support/ffmpeg.ts pins the wheels.
 */
export const pinnedFfmpegDigests: Readonly<Record<string, string>> = {
  x64: "0d709a0bed1a43f24cd2c420878c63afea4580671b6949ad19ed124572f3bc3d",
  arm64: "0b0b5ac30495b4e07ce1321b8d58200f901f57782884a8b6b264c7528c2c9e77",
};

/**
 * Returns the notice of an ffmpeg: its build and licence, both as it reports them, and its origin.
 * @param sha256 digest of the program; the notice states the origin only of a pinned one
 */
export function ffmpegNotice({ ffmpeg }: BuildInfo, { made, licence }: FfmpegWords, sha256: string): Notice {
  const isPinned = Object.values(pinnedFfmpegDigests).includes(sha256);
  const gpl = licence?.includes("version 3") === true;
  const text = `ffmpeg is a program of its own that this product starts; it is not linked with it. This copy has the SHA-256
${sha256} and reports of itself:

${made}

${licence}

${isPinned ? originOf(ffmpeg) : "It is no build that this product brings: its origin, its licence and its source are for whoever installed it to tell."}`;
  return {
    name: "ffmpeg",
    version: ffmpeg,
    licence: isPinned && gpl ? "GPL-3.0-or-later" : "as it reports below",
    source: isPinned ? "https://github.com/FFmpeg/FFmpeg, https://github.com/BtbN/FFmpeg-Builds" : "unknown",
    text,
  };
}

function originOf(version: string): string {
  const revision = version.match(/-g([0-9a-f]+)/)?.[1];
  return `Its source
  FFmpeg: https://github.com/FFmpeg/FFmpeg${revision === undefined ? `, release ${version}` : `, commit ${revision}`}
  The scripts that build it, with the sources of the libraries in it: https://github.com/BtbN/FFmpeg-Builds
  What it was taken from: the PyPI package imageio-ffmpeg (https://github.com/imageio/imageio-ffmpeg)

Whoever passes this product on passes ffmpeg on in object form and owes its complete corresponding source (GPL-3.0, section
6): for at least three years they give it, on request and for no more than the cost of doing so, to everyone who has this
product. Ask whom you have it from.

${readFileSync(join(checkout, "licences/gpl-3.0.txt"), "utf8")}`;
}
