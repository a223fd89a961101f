import { mediaToolPath } from "../../harness/checkout.ts";
import { runFfmpeg } from "../../harness/sample-recordings.ts";
import { SAMPLE_RATE } from "../../src/timeline/index.ts";

/** A sound that ffmpeg generates: its filter description and its length. */
export interface Sound {
  readonly sound: string;
  readonly seconds: number;
}

/** The path of a recording, or a sound. */
export type Part = string | Sound;

/** Concatenates parts into a file, as mono at 16 kHz. */
export async function concatenate(parts: readonly Part[], target: string): Promise<void> {
  const inputs = parts.flatMap((part) =>
    typeof part === "string" ? ["-i", part] : ["-f", "lavfi", "-t", String(part.seconds), "-i", part.sound],
  );
  const form = `aformat=sample_fmts=s16:sample_rates=${SAMPLE_RATE}:channel_layouts=mono`;
  const chains = parts.map((_, index) => `[${index}:a]${form}[part${index}]`);
  const joined = `${parts.map((_, index) => `[part${index}]`).join("")}concat=n=${parts.length}:v=0:a=1[out]`;
  await runFfmpeg([...inputs, "-filter_complex", [...chains, joined].join(";"), "-map", "[out]", target]);
}

/** A part of a recording, and its place in a mix. */
export interface Excerpt {
  readonly file: string;
  readonly startSeconds: number;
  readonly endSeconds: number;
  readonly atSeconds: number;
  /** Factor of its amplitude. Default: 1. */
  readonly gain?: number;
}

/** Time over which an excerpt fades in and out by default, so that its cuts are not audible. */
const FADE_SECONDS = 0.01;

/**
 * Adds up excerpts at their places, as mono at 16 kHz, with 0.3 s of silence after the last one.
 * @param options output: options of ffmpeg for the target; fadeSeconds: 0 for excerpts that begin and end in silence
 */
export async function mix(
  excerpts: readonly Excerpt[],
  target: string,
  { output = [], fadeSeconds = FADE_SECONDS }: { output?: readonly string[]; fadeSeconds?: number } = {},
): Promise<void> {
  const chains = excerpts.map(({ startSeconds, endSeconds, atSeconds, gain = 1 }, index) => {
    const end = endSeconds - startSeconds;
    const filters = [
      `aformat=sample_fmts=flt:sample_rates=${SAMPLE_RATE}:channel_layouts=mono`,
      `atrim=${startSeconds}:${endSeconds},asetpts=PTS-STARTPTS`,
      ...(gain === 1 ? [] : [`volume=${gain}`]),
      ...(fadeSeconds === 0
        ? []
        : [`afade=t=in:d=${fadeSeconds},afade=t=out:st=${end - fadeSeconds}:d=${fadeSeconds}`]),
      `adelay=${Math.round(atSeconds * SAMPLE_RATE)}S`,
    ];
    return `[${index}:a]${filters.join(",")}[part${index}]`;
  });
  const inputs = excerpts.map((_, index) => `[part${index}]`).join("");
  const mixed = `${inputs}amix=inputs=${excerpts.length}:normalize=0,apad=pad_dur=0.3[out]`;
  await runFfmpeg([
    ...excerpts.flatMap(({ file }) => ["-i", file]),
    ...["-filter_complex", [...chains, mixed].join(";"), "-map", "[out]", "-sample_fmt", "s16", "-bitexact"],
    ...[...output, target],
  ]);
}

/** Writes the beginning of a recording, which is repeated as often as necessary. */
export async function repeat(source: string, seconds: number, target: string): Promise<void> {
  await runFfmpeg(["-stream_loop", "-1", "-i", source, "-t", String(seconds), target]);
}

export async function makeSilence(seconds: number, target: string): Promise<void> {
  const source = ["-f", "lavfi", "-i", "anullsrc=r=16000:cl=mono,asetnsamples=n=16000", "-t", String(seconds)];
  await runFfmpeg([...source, "-compression_level", "0", target]);
}

/** Decodes a recording to mono at 16 kHz. */
export async function samplesOf(recording: string): Promise<Float32Array<ArrayBuffer>> {
  const form = ["-f", "f32le", "-ac", "1", "-ar", String(SAMPLE_RATE), "-"];
  const child = Bun.spawn([mediaToolPath, "-nostdin", "-v", "error", "-i", recording, ...form], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [bytes, exitCode] = await Promise.all([new Response(child.stdout).arrayBuffer(), child.exited]);
  if (exitCode !== 0) throw new Error(`ffmpeg cannot decode ${recording}`);
  return new Float32Array(bytes);
}
