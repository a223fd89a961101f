import type { FfmpegWords } from "../../../src/program/index.ts";

/**
 * What an ffmpeg that can't run here would say of itself, from the strings in it. Its libraries' versions, which it would
 * add, are numbers in it and are left out.
 * @throws Error where they are not there, or not once
 */
export async function readFfmpeg(path: string): Promise<FfmpegWords> {
  // One byte, one character.
  const program = Buffer.from(await Bun.file(path).arrayBuffer()).toString("latin1");
  const only = (what: string, pattern: RegExp): string => {
    const found = new Set(Array.from(program.matchAll(pattern), ([, text = ""]) => text));
    const [text] = found;
    if (text === undefined || found.size > 1) throw new Error(`${path} has ${found.size} strings that tell ${what}`);
    return text;
  };
  const version = only("its version", /FFmpeg version ([\w.-]+)\0/g);
  const configuration = only("how it was configured", /\0(--prefix=[\x20-\x7e]+)\0/g);
  const licence = only("its licence", /\0(%s is free software; [\x20-\x7e\n]+)\0/g);
  return {
    made: `ffmpeg version ${version}\nconfiguration: ${configuration}`,
    licence: licence.replaceAll("%s", "ffmpeg").trim(),
  };
}
