import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { loadGgml } from "../../../../src/speech/ggml.ts";
import { openModel, type WhisperModel, type WhisperState } from "../../../../src/speech/recognizer/whisper/index.ts";
import type { TranscribeOptions } from "../../../../src/speech/recognizer/whisper/types.ts";
import { basePath, canTranscribe, nativeDirectory, openBase, readSamples } from "./support.ts";

/** Real recordings. Each gives a window of ten seconds. */
const recordings = [
  "formats/jfk.flac",
  "dialogue/dlg-01-2spk-FM.flac",
  "dialogue/dlg-02-2spk-MM.flac",
  "dialogue/dlg-05-3spk-FFF.flac",
];
const WINDOW_SAMPLES = 160_000;
const options: TranscribeOptions = { language: "en", threads: 1, audioContext: 512, temperatureIncrement: 0 };

describe.skipIf(!canTranscribe("joint graphs", ...recordings))("states that share graphs", () => {
  let windows: Float32Array[] = [];
  let texts: string[] = [];
  let workAlone = { graphs: 0, weightBytes: 0 };
  let joint: WhisperModel;
  beforeAll(async () => {
    windows = await Promise.all(recordings.map(async (path) => (await readSamples(path)).subarray(0, WINDOW_SAMPLES)));
    const before = openBase().work();
    texts = [];
    for (const samples of windows) texts.push(await withState(openBase(), (state) => textOf(state, samples)));
    workAlone = workSince(openBase(), before);
    joint = openModel(loadGgml({ nativeDirectory }), basePath, false, 3);
  });
  afterAll(() => joint.dispose());

  test("recognize the words that each recognizes alone, with fewer graphs and reading fewer weights", async () => {
    const before = joint.work();
    const found = await Promise.all(windows.map((samples) => withState(joint, (state) => textOf(state, samples))));
    expect(found).toEqual(texts);
    const { graphs, weightBytes } = workSince(joint, before);
    expect(graphs).toBeLessThan(0.8 * workAlone.graphs);
    expect(weightBytes).toBeLessThan(0.8 * workAlone.weightBytes);
  });

  test("are neither affected by others that are aborted or disposed of, nor waited for by them", async () => {
    const [aborted, disposed] = [joint.createState(), joint.createState()];
    const before = joint.work();
    const others = windows.slice(2).map((samples) => withState(joint, (state) => textOf(state, samples)));
    let completed = 0;
    for (const other of others) other.then(() => completed++);
    const ended = [aborted, disposed].map((state, i) => state.transcribe(windows[i] ?? new Float32Array(), options));
    // In the decoder: the windows take at most three graphs each.
    while (workSince(joint, before).graphs < 3 * windows.length + 4) await Bun.sleep(1);
    aborted.abort();
    disposed.dispose();
    for (const result of await Promise.all(ended)) expect(result).toEqual({ aborted: true, segments: [] });
    expect(completed).toBe(0);
    aborted.dispose();
    expect(await Promise.all(others)).toEqual(texts.slice(2));
  });

  test("detect languages, and transcribe a window that another state encoded for detection", async () => {
    const [speech = new Float32Array(), other = new Float32Array()] = windows;
    const detect = (samples: Float32Array) => withState(joint, (state) => state.detectLanguage(samples, 1));
    const detected = await Promise.all([detect(speech), detect(other)]);
    for (const probabilities of detected) expect(probabilities.en).toBeGreaterThan(0.8);
    const whole = (model: WhisperModel) =>
      withState(model, (state) => textOf(state, speech, { language: "en", threads: 1, beamSize: 1 }));
    expect(await whole(joint)).toBe(await whole(openBase()));
  });
});

function workSince(model: WhisperModel, before: ReturnType<WhisperModel["work"]>) {
  const { graphs, weightBytes } = model.work();
  return { graphs: graphs - before.graphs, weightBytes: weightBytes - before.weightBytes };
}

async function withState<T>(model: WhisperModel, job: (state: WhisperState) => Promise<T>): Promise<T> {
  const state = model.createState();
  try {
    return await job(state);
  } finally {
    state.dispose();
  }
}

async function textOf(state: WhisperState, samples: Float32Array, how: TranscribeOptions = options): Promise<string> {
  const { segments } = await state.transcribe(samples, how);
  return segments.map((segment) => segment.text).join("");
}
