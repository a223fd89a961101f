import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { threadsOf } from "../../src/devices/lane-shares.ts";
import { operationsPerSecond } from "../../src/devices/tune-device.ts";
import { loadGgml } from "../../src/runtimes/index.ts";
import { openModel } from "../../src/speech/recognizer/whisper/index.ts";
import { SAMPLE_RATE } from "../../src/timeline/index.ts";
import { readJsonLines } from "./json-lines.ts";

/** The window of Whisper's encoder, which is always encoded as a whole. */
export const WINDOW_SECONDS = 30;
const WINDOW_SAMPLES = WINDOW_SECONDS * SAMPLE_RATE;
/** Number of different windows of noise, in case results are reused anywhere. */
const NOISE_WINDOWS = 8;

const count = Type.Integer({ minimum: 1 });

const taskSchema = Type.Object({
  nativeDirectory: Type.String(),
  cpuLibrary: Type.String(),
  /** Library of the GPU's backend. */
  gpu: Type.String(),
  model: Type.String(),
  /** File with windows of 30 s in floats; empty: noise, for random weights. */
  windows: Type.String(),
  /** Operations whose texts are decoded together; 1: each decodes alone. */
  slots: count,
  /** Numbers of operations at once, one after the other. */
  lanes: Type.Array(count, { minItems: 1 }),
  /** Texts that are followed in each window; 1: greedy. */
  beams: Type.Array(count, { minItems: 1 }),
  /** CPU threads of all operations. */
  threads: count,
  minSeconds: Type.Number({ minimum: 0 }),
});
export type PassesTask = Static<typeof taskSchema>;

const passesSchema = Type.Object({
  lanes: count,
  slots: count,
  beams: count,
  /** Seconds of audio that are recognized in a second. */
  speed: Type.Number({ minimum: 0 }),
  /** Evaluations of graphs for each minute of audio. */
  graphs: Type.Number({ minimum: 0 }),
  /** Of the decoder in slots: steps for each minute of audio, and rows of texts in each step; 0 without slots. */
  steps: Type.Number({ minimum: 0 }),
  rowsPerStep: Type.Number({ minimum: 0 }),
  /** Memory of the GPU that is in use, by all programs. */
  gpuBytes: Type.Number({ minimum: 0 }),
});
/** The speed of single passes over windows. */
export type Passes = Static<typeof passesSchema>;

/** Measures passes in a process of its own, which a GPU may crash. @returns why figures are missing, or null */
export function measurePasses(
  task: PassesTask,
  options: {
    readonly seconds: number;
    /** Variables that make only this GPU visible. */
    readonly environment: Readonly<Record<string, string>>;
    readonly onLine: (passes: Passes) => void;
  },
): Promise<string | null> {
  const command = [process.execPath, "--no-env-file", import.meta.path, JSON.stringify(task)];
  return readJsonLines(command, passesSchema, options);
}

async function runTask(task: PassesTask): Promise<void> {
  const runtime = loadGgml({ ...task, gpu: [task.gpu] });
  if (runtime.gpus().length === 0) throw new Error(runtime.unusable[0]?.reason ?? "the GPU is no longer available");
  const model = openModel(runtime, task.model, true, task.slots);
  const windows = await readWindows(task.windows);
  const states = Array.from({ length: Math.max(...task.lanes) }, () => model.createState());
  const language = model.languages.includes("en") ? "en" : (model.languages[0] ?? "en");
  for (const lanes of task.lanes) {
    const free = states.slice(0, lanes);
    const threads = threadsOf(task.threads, lanes);
    for (const beamSize of task.beams) {
      // As the server's first pass: without timestamps, which would end a text of random weights at once.
      const pass = { withoutTimestamps: true, suppressNonSpeech: true, temperatureIncrement: 0 } as const;
      let passes = 0;
      const before = model.work();
      const perSecond = await operationsPerSecond(lanes, task.minSeconds, async () => {
        const state = free.pop() as (typeof states)[number];
        const samples = windows[passes++ % windows.length] as Float32Array;
        await state.transcribe(samples, { ...pass, language, threads, beamSize });
        free.push(state);
      });
      const after = model.work();
      const minutes = (passes * WINDOW_SECONDS) / 60;
      const steps = after.steps.evaluated - before.steps.evaluated;
      const [gpu] = runtime.gpus();
      const line: Passes = {
        ...{ lanes, slots: task.slots, beams: beamSize, speed: WINDOW_SECONDS * perSecond },
        graphs: (after.graphs - before.graphs) / minutes,
        steps: steps / minutes,
        rowsPerStep: steps === 0 ? 0 : (after.steps.items - before.steps.items) / steps,
        gpuBytes: gpu === undefined ? 0 : gpu.memoryTotalBytes - gpu.memoryFreeBytes,
      };
      process.stdout.write(`${JSON.stringify(line)}\n`);
    }
  }
}

async function readWindows(path: string): Promise<Float32Array[]> {
  if (path === "") return Array.from({ length: NOISE_WINDOWS }, (_, seed) => noise(seed));
  const samples = new Float32Array(await Bun.file(path).arrayBuffer());
  return Array.from({ length: Math.max(1, Math.floor(samples.length / WINDOW_SAMPLES)) }, (_, at) =>
    samples.subarray(at * WINDOW_SAMPLES, (at + 1) * WINDOW_SAMPLES),
  );
}

/** Returns a window of quiet noise, the same in every run. */
function noise(seed: number): Float32Array {
  return Float32Array.from({ length: WINDOW_SAMPLES }, (_, at) => 0.1 * Math.sin((at + seed) * (at + seed)));
}

if (import.meta.main) {
  await runTask(Value.Parse(taskSchema, JSON.parse(process.argv[2] ?? "")));
  // Drivers of a GPU keep the process alive.
  process.exit();
}
