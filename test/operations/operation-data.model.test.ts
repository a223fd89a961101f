import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { corpusPath, root } from "../../harness/checkout.ts";
import { decode } from "../../harness/diarized-recording.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { defaultCacheRoot } from "../../native/build.ts";
import { blockCount, hasBlock, openItem, type WorkItem, writeItem } from "../../src/blocks/index.ts";
import { chooseCpuLibraryFor } from "../../src/devices/index.ts";
import { Engine } from "../../src/engine/index.ts";
import type { Params, WorkerStart } from "../../src/operations/index.ts";
import { dataOf, type SpanOperation } from "../../src/operations/operation-data.ts";
import { programFiles } from "../../src/program/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";
import type { WorkArea } from "../../src/timeline/index.ts";
import { canTranscribe, nativeDirectory } from "../support/whisper.ts";

const recording = "dialogue/dlg-05-3spk-FFF.flac";
const canRun = canTranscribe("operations that run where only their data is", recording);
const never = new AbortController().signal;
const main = join(root, "src/main.ts");

async function readItem(area: WorkArea, item: WorkItem): Promise<Uint8Array> {
  const { bytes, readInto } = await openItem(area, item);
  const content = new Uint8Array(bytes);
  await readInto(content);
  return content;
}

describe.skipIf(!canRun)("an operation on a span of a recording", () => {
  const directory = temporaryDirectory();
  let engine: Engine;
  /** An engine whose operations are shared by a worker with the recognizer and a speaker worker. */
  let shared: Engine;
  let model: string;
  /** The work area of the server. */
  let here: WorkArea;

  beforeAll(async () => {
    const { speechModel, onnxBinding, segmentationModel, embeddingModel } = await programFiles("");
    model = speechModel;
    const { cpuLibrary } = await chooseCpuLibraryFor(
      {
        command: [process.execPath, main, "__selftest"],
        nativeDirectory,
        verdictsPath: join(defaultCacheRoot(), "devices.json"),
      },
      [model],
    );
    const start: WorkerStart = {
      type: "start",
      nativeDirectory,
      cpuLibrary,
      onnxBinding,
      speechModel,
      segmentationModel,
      embeddingModel,
      threads: 1,
      speechThreads: 1,
      lanes: 1,
    };
    const engineOf = (...starts: [WorkerStart, ...WorkerStart[]]) =>
      new Engine({
        command: [process.execPath, main, "__worker"],
        prepare: async () => starts,
        log: createLogger("silent"),
      });
    engine = engineOf(start);
    shared = engineOf({ ...start, role: "speech" }, { ...start, role: "speakers" });
    mkdirSync(join(directory.path, "here"));
    // Enough for several chunks.
    const pcm = await decode(corpusPath(recording), join(directory.path, "here.pcm"), "atrim=duration=50");
    here = { directory: join(directory.path, "here"), pcm };
  });
  afterAll(async () => {
    await Promise.all([engine.close(), shared.close()]);
    directory[Symbol.dispose]();
  });

  let elsewheres = 0;
  /** Runs an operation in a new work area that has only its inputs. @returns its result and its outputs' bytes */
  async function runElsewhere<N extends SpanOperation>(operation: N, params: Params<N>, by: Engine) {
    const { inputs, outputs } = dataOf(operation, params);
    const place = join(directory.path, `elsewhere-${elsewheres++}`);
    mkdirSync(place);
    const { sampleCount } = here.pcm;
    const there: WorkArea = { directory: place, pcm: { path: join(place, "slices.pcm"), sampleCount } };
    for (const item of inputs) await writeItem(there, item, await readItem(here, item));
    const result = await by.run(operation, { ...params, area: there }, never);
    return { result, bytes: await Promise.all(outputs.map((item) => readItem(there, item))) };
  }

  /** Runs an operation in both areas, and by both engines, and expects equal results and outputs. */
  async function expectEqual<N extends SpanOperation>(operation: N, params: Params<N>) {
    const { outputs } = dataOf(operation, params);
    const engines = outputs.length > 0 ? [engine, shared] : [engine];
    const [result, ...elsewhere] = await Promise.all([
      engine.run(operation, params, never),
      ...engines.map((by) => runElsewhere(operation, params, by)),
    ]);
    const bytes = await Promise.all(outputs.map((item) => readItem(here, item)));
    expect(elsewhere).toEqual(engines.map(() => ({ result, bytes })));
    return result;
  }

  test("has the same result in an area with only its inputs, and in a speaker worker: speech, words, voices and sentences", async () => {
    const area = here;
    for (let block = 0; block < blockCount(area.pcm.sampleCount); block++) {
      await expectEqual("detectBlock", { area, block });
      await expectEqual("embedBlock", { area, block });
    }
    const { chunks } = await engine.run("planChunks", { area }, never);
    const chunk = chunks[1];
    if (chunk === undefined) throw new Error("the dialogue has several chunks");
    await expectEqual("detectLanguage", { area, chunk, model });
    const { words } = await expectEqual("transcribe", { area, chunk, model, language: "en" });
    expect(words.length).toBeGreaterThan(10);
    const translation = await expectEqual("translate", { area, chunk, model, language: "de" });
    expect(translation.words.length).toBeGreaterThan(5);
    const span = { startSeconds: 10.2, endSeconds: 14.73 };
    const live = await expectEqual("transcribeLive", { area, span, model, language: "en" });
    expect(live.words.length).toBeGreaterThan(3);
    expect(live.words.every(({ startSeconds, endSeconds }) => startSeconds >= 10.2 && endSeconds <= 14.75)).toBe(true);
    for (const endSample of [20_000, 160_000]) {
      const { probabilities } = await expectEqual("detectSpeech", { area, endSample });
      expect(Math.max(...probabilities)).toBeGreaterThan(0.9);
    }
    const { probabilities: languages } = await expectEqual("detectLiveLanguage", { area, span, model });
    expect(languages.en).toBeGreaterThan(0.5);
    const { embedding } = await expectEqual("embedSpeech", { area, spans: [span] });
    expect(Math.hypot(...embedding)).toBeCloseTo(1, 3);
    const lengths = [1.23456, 3, 7.7];
    const spans = lengths.map((seconds, at) => {
      const startSeconds = ((0.1 + 0.3 * at) * area.pcm.sampleCount) / 16_000;
      return { startSeconds, endSeconds: startSeconds + seconds };
    });
    const sentences = { area, spans, block: 0 };
    await expectEqual("embedSentences", sentences);
    // Of a long sentence, only the embedded part is sent.
    const samples = dataOf("embedSentences", sentences).inputs.flatMap((item) =>
      item.kind === "pcm" ? [item.sampleCount] : [],
    );
    expect(samples).toEqual([19_753, 40_000, 40_000]);
  }, 300_000);

  test("fails if an input is missing, and a damaged block is refused when it is written", async () => {
    const place = join(directory.path, "empty");
    mkdirSync(place);
    const there = { directory: place, pcm: { ...here.pcm, path: join(place, "slices.pcm") } };
    await expect(engine.run("embedBlock", { area: there, block: 0 }, never)).rejects.toThrow();
    const block = { kind: "activity", block: 0 } as const;
    const bytes = await readItem(here, block);
    await expect(writeItem(there, block, bytes.subarray(0, -1))).rejects.toThrow("block 0 of activity is damaged");
    expect(await hasBlock(there, "activity", 0)).toBe(false);
  }, 60_000);
});
