import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { BuildInfo, Notice } from "../../../src/program/index.ts";
import { root } from "../checkout.ts";
import { pinnedFfmpegDigests } from "../ffmpeg.ts";
import { runCommand } from "../run-command.ts";

/**
 * Returns the notice of an ffmpeg: its build and licence, both as it reports them, and its origin.
 * @param sha256 digest of the program; the notice states the origin only of a pinned one
 */
export function ffmpegNotice({ ffmpeg }: BuildInfo, { version, licence }: FfmpegReport, sha256: string): Notice {
  const isPinned = Object.values(pinnedFfmpegDigests).includes(sha256);
  const gpl = licence?.includes("version 3") === true;
  const text = `ffmpeg is a program of its own that this product starts; it is not linked with it. This copy has the SHA-256
${sha256} and reports of itself:

${version}

${licence}

${isPinned ? originOf(ffmpeg) : "This product does not ship this build: whoever installed it can state its origin, licence and source."}`;
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

${readFileSync(join(root, "licences/gpl-3.0.txt"), "utf8")}`;
}

/** An ffmpeg's own report about itself; null when it is not available. */
export interface FfmpegReport {
  /** Begins with `ffmpeg version …`, followed by its configuration. */
  readonly version: string | null;
  readonly licence: string | null;
}

/** Runs an ffmpeg on this machine and returns its report. */
export async function askFfmpeg(path: string): Promise<FfmpegReport> {
  const ask = (option: string) =>
    runCommand([path, "-hide_banner", option]).then(
      (output) => output.trim(),
      () => null,
    );
  return { version: await ask("-version"), licence: await ask("-L") };
}

/**
 * Returns the report of an ffmpeg that cannot run on this machine, from the strings in its file. The versions of its
 * libraries are numbers in it and are left out.
 * @throws {Error} when the file does not contain each string exactly once
 */
export async function readFfmpeg(path: string): Promise<FfmpegReport> {
  // In latin1, each byte is one character.
  const program = Buffer.from(await Bun.file(path).arrayBuffer()).toString("latin1");
  const only = (what: string, pattern: RegExp): string => {
    const found = new Set(Array.from(program.matchAll(pattern), ([, text = ""]) => text));
    const [text] = found;
    if (text === undefined || found.size > 1) throw new Error(`${path} has ${found.size} strings with ${what}`);
    return text;
  };
  const version = only("its version", /FFmpeg version ([\w.-]+)\0/g);
  const configuration = only("its configuration", /\0(--prefix=[\x20-\x7e]+)\0/g);
  const licence = only("its licence", /\0(%s is free software; [\x20-\x7e\n]+)\0/g);
  return {
    version: `ffmpeg version ${version}\nconfiguration: ${configuration}`,
    licence: licence.replaceAll("%s", "ffmpeg").trim(),
  };
}
