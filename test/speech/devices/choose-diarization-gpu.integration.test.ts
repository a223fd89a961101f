import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import type { SpeakerPart } from "../../../src/engine/protocol.ts";
import { type ChooseDiarizationGpuOptions, chooseDiarizationGpu } from "../../../src/speech/devices/diarization-gpu.ts";

type Answers = Readonly<Record<SpeakerPart, string>>;
const found = (seconds: number, cpuSeconds: number, error: number) =>
  `echo '${JSON.stringify({ seconds, cpuSeconds, error })}'`;
const works = found(1, 2, 0.0001);

/** Returns options for a machine whose self-tests give these answers and record what they test. */
function machine(path: string, answers: Answers, changes: Partial<ChooseDiarizationGpuOptions> = {}) {
  mkdirSync(path, { recursive: true });
  for (const name of ["libonnxruntime.so.1", "segmentation", "embedding"]) writeFileSync(join(path, name), name);
  const tried = join(path, "tried");
  const cases = Object.entries(answers).map(([part, answer]) => `${part}) ${answer};;`);
  const script = `part=$(printf %s "$1" | sed 's/.*"part":"\\([^"]*\\)".*/\\1/')
    echo "$part" >>'${tried}'; case "$part" in ${cases.join(" ")} esac`;
  const options: ChooseDiarizationGpuOptions = {
    command: ["sh", "-c", script, "self-test"],
    onnxBinding: join(path, "onnxruntime_binding.node"),
    segmentationModel: join(path, "segmentation"),
    embeddingModel: join(path, "embedding"),
    withSample: (use) => use(join(path, "sample.pcm")),
    withinReach: () => true,
    verdictsPath: join(path, "devices.json"),
    speakerWorkers: 0,
    ...changes,
  };
  const triedParts = () => (existsSync(tried) ? readFileSync(tried, "utf8").split("\n").slice(0, -1) : []);
  return { options, triedParts };
}

describe("the choice of diarization models for a GPU", () => {
  test.each<[string, Answers, readonly SpeakerPart[], readonly RegExp[]]>([
    [
      "those that it computes rightly and sooner",
      { segmentation: works, embedding: works },
      ["segmentation", "embedding"],
      [],
    ],
    [
      "none that takes it longer",
      { segmentation: found(3, 2, 0), embedding: works },
      ["embedding"],
      [/no faster than the CPU: 3.00 s/],
    ],
    [
      "none that it gives other answers with",
      { segmentation: works, embedding: found(1, 2, 0.4) },
      ["segmentation"],
      [/by 0.40$/],
    ],
    [
      "none that crashes in its driver",
      { segmentation: "kill -SEGV $$", embedding: works },
      ["embedding"],
      [/SIGSEGV/],
    ],
  ])("gives a GPU %s", async (_, answers, onGpu, reasons) => {
    using directory = temporaryDirectory();
    const { options, triedParts } = machine(directory.path, answers);
    const choice = await chooseDiarizationGpu(options);
    expect(choice.onGpu).toEqual(onGpu);
    expect(choice.leftOut.map(({ reason }) => reason)).toEqual(reasons.map((reason) => expect.stringMatching(reason)));
    // Later choices use the stored verdict and start no process.
    expect(await chooseDiarizationGpu(options)).toEqual(choice);
    expect(triedParts()).toEqual(["segmentation", "embedding"]);
  });

  test("leaves the models to the CPU if its workers together are faster than the GPU", async () => {
    using directory = temporaryDirectory();
    const answers = { segmentation: found(1, 3, 0), embedding: found(1, 5, 0) };
    const { options, triedParts } = machine(directory.path, answers, { speakerWorkers: 4 });
    const { onGpu, leftOut } = await chooseDiarizationGpu(options);
    expect(onGpu).toEqual(["embedding"]);
    expect(leftOut[0]?.reason).toMatch(/no faster than the CPU: 1.00 s against 0.75 s/);
    // Another number of workers needs another self-test.
    expect((await chooseDiarizationGpu({ ...options, speakerWorkers: 2 })).onGpu).toEqual([
      "segmentation",
      "embedding",
    ]);
    expect(triedParts()).toHaveLength(4);
  });

  test("starts no self-test if no GPU can be reached", async () => {
    using directory = temporaryDirectory();
    const answers = { segmentation: works, embedding: works };
    const { options, triedParts } = machine(directory.path, answers, { withinReach: () => false });
    expect(await chooseDiarizationGpu(options)).toEqual({ onGpu: [], leftOut: [] });
    expect(triedParts()).toEqual([]);
  });

  test("repeats a self-test that failed by chance, and a lasting failure only after a change", async () => {
    using directory = temporaryDirectory();
    const answers = { segmentation: "echo 'no adapter' >&2; exit 1", embedding: found(3, 2, 0) };
    const { options, triedParts } = machine(directory.path, answers);
    const { leftOut } = await chooseDiarizationGpu(options);
    expect(leftOut[0]).toEqual({ part: "segmentation", reason: "no adapter" });
    await chooseDiarizationGpu(options);
    expect(triedParts()).toEqual(["segmentation", "embedding", "segmentation"]);
    writeFileSync(options.embeddingModel, "other weights");
    await chooseDiarizationGpu(options);
    expect(triedParts().filter((part) => part === "embedding")).toHaveLength(2);
  });

  test.each<[string, Partial<ChooseDiarizationGpuOptions>, string, RegExp]>([
    ["the sample can't be had", { withSample: () => Promise.reject(new Error("no ffmpeg")) }, works, /no ffmpeg/],
    ["a self-test says nonsense", {}, "echo 7", /./],
  ])("leaves the models to the CPU where %s", async (_, changes, answer, reason) => {
    using directory = temporaryDirectory();
    const { options } = machine(directory.path, { segmentation: answer, embedding: answer }, changes);
    const { onGpu, leftOut } = await chooseDiarizationGpu(options);
    expect(onGpu).toEqual([]);
    expect(leftOut.map((each) => each.reason)).toEqual([expect.stringMatching(reason), expect.stringMatching(reason)]);
  });

  test("ends with the signal's reason", async () => {
    using directory = temporaryDirectory();
    const controller = new AbortController();
    const answers = { segmentation: "exec sleep 60", embedding: works };
    const { options } = machine(directory.path, answers, { signal: controller.signal });
    const choice = chooseDiarizationGpu(options);
    setTimeout(() => controller.abort(new Error("closed")), 20);
    await expect(choice).rejects.toThrow("closed");
  });
});
