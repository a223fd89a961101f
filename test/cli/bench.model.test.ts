import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../harness/checkout.ts";
import { tinyModel, writeRandomModel } from "../../harness/parakeet/random-model.ts";
import { reuseSelfTests } from "../../harness/self-test-results.ts";
import { runCli } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { predict } from "../../src/diagnostics/benchmark/run-benchmark.ts";
import { canTranscribe } from "../support/whisper.ts";
import { faultsOf } from "./benchmark-shape.ts";

test("the costs of the steps add up to the audio hours per hour", () => {
  const costs = { detect: 0.01, transcribe: 0.08, diarize: 0.01 };
  const { audioHoursPerHour, fiveHoursMinutes } = predict({ costs, languageSeconds: 8, stepsOverlap: false });
  expect(audioHoursPerHour).toBeCloseTo(3600 / 400);
  expect(fiveHoursMinutes).toBeCloseTo((5 * 400) / 60);
});

test("the slower of GPU and CPU limits the audio hours per hour", () => {
  const costs = { detect: 0.001, transcribe: 0.002, diarize: 0.003 };
  expect(predict({ costs, languageSeconds: 0, stepsOverlap: true }).audioHoursPerHour).toBeCloseTo(1 / 0.004);
  const slowGpu = { ...costs, transcribe: 0.01 };
  expect(predict({ costs: slowGpu, languageSeconds: 0, stepsOverlap: true }).audioHoursPerHour).toBeCloseTo(1 / 0.01);
});

/** Creates a data directory with the results of earlier self-tests of the CPU variants, which take seconds. */
function testedDirectory(parent: string): string {
  const data = join(parent, "data");
  mkdirSync(join(data, "state"), { recursive: true });
  reuseSelfTests(data);
  return data;
}

describe.skipIf(!canTranscribe("the benchmark"))("transcribe bench", () => {
  test("measures nothing with --tune on a CPU with few threads, whose best division is known", async () => {
    using directory = temporaryDirectory();
    const data = testedDirectory(directory.path);
    const environment = { TRANSCRIBE_ENGINE_THREADS: "2", TRANSCRIBE_ENGINE_DEVICE: "cpu", TMPDIR: directory.path };
    const { exitCode, stdout, stderr } = await runCli(["bench", "--tune", "--json", "--data-dir", data], environment);
    expect([exitCode, stderr]).toEqual([0, ""]);
    const cpu = { device: "CPU", name: "CPU", lanes: null, measured: [], failed: null };
    expect(JSON.parse(stdout)).toMatchObject({ model: "whisper-base", devices: [cpu], stored: true });
    expect(readdirSync(directory.path)).toEqual(["data"]);
  }, 180_000);

  test("measures every step, the language detection with the built-in model, and leaves no files", async () => {
    using directory = temporaryDirectory();
    // It detects no languages, and transcribes quickly. bench.full.test.ts measures the built-in model.
    const model = join(directory.path, "ggml-parakeet-tiny.bin");
    writeRandomModel(model, tinyModel);
    const scratch = join(directory.path, "scratch");
    mkdirSync(scratch);
    const { exitCode, stdout, stderr } = await runCli(
      ["bench", "--seconds", "1", "--json", "--data-dir", join(scratch, "data")],
      { TRANSCRIBE_ENGINE_THREADS: "1", TRANSCRIBE_ENGINE_WHISPER_MODEL: model, TMPDIR: scratch },
    );
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(faultsOf(stdout)).toEqual([]);
    expect(JSON.parse(stdout).model).toBe(model);
    expect(readdirSync(scratch)).toEqual([]);
  }, 600_000);

  test("removes its worker and its files when it is interrupted", async () => {
    using directory = temporaryDirectory();
    const child = Bun.spawn([process.execPath, "--no-env-file", join(root, "src/main.ts"), "bench"], {
      env: { ...process.env, TMPDIR: directory.path, TRANSCRIBE_DATA_DIR: testedDirectory(directory.path) },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const worker = () =>
      Bun.spawnSync(["pgrep", "--parent", String(child.pid), "--full", "__worker"])
        .stdout.toString()
        .trim();
    while (worker() === "" && child.exitCode === null) await Bun.sleep(20);
    const pid = worker();
    expect(pid).not.toBe("");
    child.kill("SIGINT");
    expect(await child.exited).toBe(130);
    expect(existsSync(`/proc/${pid}`)).toBe(false);
    expect(await new Response(child.stderr).text()).toBe("");
    expect(readdirSync(directory.path)).toEqual(["data"]);
  }, 180_000);

  test("reports in one line why it can't measure", async () => {
    const { exitCode, stdout, stderr } = await runCli(["bench", "--seconds", "1"], {
      TRANSCRIBE_ENGINE_WHISPER_MODEL: "/no/model.bin",
    });
    expect([exitCode, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^transcribe: can't measure: \/no\/model.bin is missing.+transcribe doctor.+\n$/);
  }, 180_000);
});
