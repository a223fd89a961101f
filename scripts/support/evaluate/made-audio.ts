import { ffmpegPath } from "../../../test/support/checkout.ts";
import { runCommand } from "../run-command.ts";

/** A sound that ffmpeg makes: its description and its length. */
export interface Sound {
  readonly sound: string;
  readonly seconds: number;
}

/** A recording's path, or a sound. */
export type Part = string | Sound;

/** Writes parts one after another, as mono at 16 kHz. */
export async function joinParts(parts: readonly Part[], target: string): Promise<void> {
  const inputs = parts.flatMap((part) =>
    typeof part === "string" ? ["-i", part] : ["-f", "lavfi", "-t", String(part.seconds), "-i", part.sound],
  );
  const form = "aformat=sample_fmts=s16:sample_rates=16000:channel_layouts=mono";
  const chains = parts.map((_, index) => `[${index}:a]${form}[part${index}]`);
  const joined = `${parts.map((_, index) => `[part${index}]`).join("")}concat=n=${parts.length}:v=0:a=1[out]`;
  await runCommand([
    ...[ffmpegPath, "-nostdin", "-v", "error", "-y", ...inputs],
    ...["-filter_complex", [...chains, joined].join(";"), "-map", "[out]", target],
  ]);
}
