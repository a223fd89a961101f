import { describe, expect, test } from "bun:test";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { measureTransformers } from "../../../tools/bench/transformers-whisper.ts";

const about = '{"device": "a GPU", "torch": "2", "transformers": "5"}';
const speed = (batch: number) =>
  `{"batch": ${batch}, "beams": 5, "tokens": 220, "seconds": 2.5, "speed": 96.0, "bytes": null}`;

/** Measures with a script of the shell in place of Python. */
async function measure(script: string, seconds = 30) {
  using directory = temporaryDirectory();
  const python = join(directory.path, "python");
  writeFileSync(python, `#!/bin/sh\n${script}`);
  chmodSync(python, 0o755);
  return await measureTransformers({ python, tokens: 220, seconds });
}

describe("transformers", () => {
  test("reports the speed of each batch, and what failed", async () => {
    const failed = '{"batch": 32, "beams": 5, "reason": "out of memory"}';
    const figures = await measure(`echo '${about}'; echo loading; echo '${speed(8)}'; echo '${failed}'`);
    expect(figures).toEqual({
      about: "transformers 5, torch 2, a GPU",
      speeds: [{ batch: 8, beams: 5, tokens: 220, seconds: 2.5, speed: 96, bytes: null }],
      missing: "batch 32, beam 5: out of memory",
    });
  });

  test("keeps the speeds until its time is over", async () => {
    const { speeds, missing } = await measure(`echo '${about}'; echo '${speed(1)}'; exec sleep 60`, 2);
    expect(speeds.map(({ batch }) => batch)).toEqual([1]);
    expect(missing).toMatch(/^it was ended after/);
  });

  test.each([
    [`echo '{"reason": "torch finds no CUDA device"}'`, "torch finds no CUDA device"],
    ["echo trouble >&2; exit 3", "it ended with status 3: trouble"],
  ])("says why nothing was measured: %s", async (script, missing) => {
    expect(await measure(script)).toEqual({ about: null, speeds: [], missing });
  });

  test("says that Python is missing", async () => {
    const { missing } = await measureTransformers({ python: "no-such-python", tokens: 220, seconds: 1 });
    expect(missing).toBe("no-such-python is not installed");
  });

  test("runs its own script, which computes on the CPU, too, or names what is missing", async () => {
    if (Bun.which("python3") === null) return;
    const more = ["--shape", "small", "--device", "cpu", "--batches", "1"];
    const { missing, speeds } = await measureTransformers({ python: "python3", tokens: 2, seconds: 60, more });
    expect(missing ?? "torch").toMatch(/^torch/);
    expect(speeds.map(({ beams, tokens }) => [beams, tokens])).toEqual(
      missing === null
        ? [
            [1, 2],
            [5, 2],
          ]
        : [],
    );
  }, 90_000);
});
