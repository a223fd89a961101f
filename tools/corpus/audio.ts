import { mediaToolPath } from "../../harness/checkout.ts";
import { SAMPLE_RATE } from "../../src/timeline/index.ts";
import { runCommand } from "../shared/run-command.ts";

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
  await runCommand([
    ...[mediaToolPath, "-nostdin", "-v", "error", "-y", ...inputs],
    ...["-filter_complex", [...chains, joined].join(";"), "-map", "[out]", target],
  ]);
}

/** Writes the beginning of a recording, which is repeated as often as necessary. */
export async function repeat(source: string, seconds: number, target: string): Promise<void> {
  const length = ["-t", String(seconds)];
  await runCommand([mediaToolPath, "-v", "error", "-y", "-stream_loop", "-1", "-i", source, ...length, target]);
}

/** Writes silence. */
export async function makeSilence(seconds: number, target: string): Promise<void> {
  const source = ["-f", "lavfi", "-i", "anullsrc=r=16000:cl=mono,asetnsamples=n=16000", "-t", String(seconds)];
  await runCommand([mediaToolPath, "-v", "error", "-y", ...source, "-compression_level", "0", target]);
}

/** Decodes a recording to mono at 16 kHz. */
export async function samplesOf(recording: string): Promise<Float32Array> {
  const form = ["-f", "f32le", "-ac", "1", "-ar", String(SAMPLE_RATE), "-"];
  const child = Bun.spawn([mediaToolPath, "-nostdin", "-v", "error", "-i", recording, ...form], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [bytes, exitCode] = await Promise.all([new Response(child.stdout).arrayBuffer(), child.exited]);
  if (exitCode !== 0) throw new Error(`ffmpeg cannot decode ${recording}`);
  return new Float32Array(bytes);
}
