import { runCommand } from "../run-command.ts";

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
