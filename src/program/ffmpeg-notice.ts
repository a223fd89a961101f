import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { BuildInfo } from "./build-info.ts";
import { checkout } from "./checkout.ts";
import type { FfmpegWords } from "./ffmpeg-words.ts";
import type { Notice } from "./notices.ts";

/** The notice of an ffmpeg: how it was built, its licence by its own word, and its source. */
export function ffmpegNotice({ ffmpeg }: BuildInfo, { made, licence }: FfmpegWords): Notice {
  const gpl = licence?.includes("version 3") === true;
  const revision = ffmpeg.match(/-g([0-9a-f]+)/)?.[1];
  const text = `ffmpeg is a program of its own that this product starts; it is not linked with it. This copy says of itself:

${made}

${licence}

Its source
  FFmpeg: https://github.com/FFmpeg/FFmpeg${revision === undefined ? `, release ${ffmpeg}` : `, commit ${revision}`}
  The scripts that build it, with the sources of the libraries in it: https://github.com/BtbN/FFmpeg-Builds
  What it was taken from: the PyPI package imageio-ffmpeg (https://github.com/imageio/imageio-ffmpeg)

Whoever passes this product on passes ffmpeg on in object form and owes its complete corresponding source (GPL-3.0, section
6): for at least three years they give it, on request and for no more than the cost of doing so, to everyone who has this
product. Ask whom you have it from.

${readFileSync(join(checkout, "licences/gpl-3.0.txt"), "utf8")}`;
  return {
    name: "ffmpeg",
    version: ffmpeg,
    licence: gpl ? "GPL-3.0-or-later" : "see its own word below",
    source: "https://github.com/FFmpeg/FFmpeg, https://github.com/BtbN/FFmpeg-Builds",
    text,
  };
}
