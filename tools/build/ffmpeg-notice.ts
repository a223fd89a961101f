import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { ffmpegSources } from "../../native/build-ffmpeg.ts";
import { CORRECTIONS } from "../../native/ffmpeg/formats.ts";
import type { BuildInfo, Notice } from "../../src/program/index.ts";
import { root } from "../shared/checkout.ts";
import { runCommand } from "../shared/run-command.ts";

/**
 * Returns the notice of an ffmpeg: its build and licence, both as it reports them, and its origin.
 * @param isOwn whether it was compiled from the pinned sources; the notice states the origin of no other
 */
export function ffmpegNotice(
  { ffmpeg }: BuildInfo,
  { version, licence }: FfmpegReport,
  { sha256, isOwn }: { readonly sha256: string; readonly isOwn: boolean },
): Notice {
  const text = `ffmpeg is a program of its own that this product starts; it is not linked with it. This copy has the SHA-256
${sha256} and reports of itself:

${version}

${licence}

${isOwn ? ownOrigin() : "This product does not ship this build: whoever installed it can state its origin, licence and source."}`;
  return {
    name: "ffmpeg",
    version: ffmpeg,
    licence: isOwn ? "LGPL-2.1-or-later, with Opus (BSD-3-Clause) and zlib (Zlib)" : "as it reports below",
    source: isOwn ? "the file .ffmpeg-source.tar next to this product; https://github.com/FFmpeg/FFmpeg" : "unknown",
    text,
  };
}

function ownOrigin(): string {
  const archives = Object.values(ffmpegSources).map(
    ({ name, version, path, sha256 }) => `  ${name} ${version}: ${basename(path)}, SHA-256 ${sha256}`,
  );
  const licence = (name: string) => readFileSync(join(root, "licences", `${name}.txt`), "utf8").trim();
  const changed = CORRECTIONS.map(({ file }) => `  ${file}`);
  return `It was compiled from the source archives of Debian's packages:

${archives.join("\n")}

Before that, these files of FFmpeg were changed; native/ffmpeg/formats.ts in the file below has the changes:

${changed.join("\n")}

The file .ffmpeg-source.tar next to this product contains these archives and the scripts that compile them. Whoever
passes this product on passes that file on, too (LGPL 2.1, sections 4 and 6). You may replace the program by your own.

The licence of FFmpeg:

${licence("lgpl-2.1")}

The licence of Opus:

${licence("opus")}

The licence of zlib:

${licence("zlib")}`;
}

/** An ffmpeg's own report about itself; null when it is not available. */
export interface FfmpegReport {
  /** Begins with `ffmpeg version …`, followed by its configuration. */
  readonly version: string | null;
  readonly licence: string | null;
}

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
