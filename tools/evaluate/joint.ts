import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { mediaToolPath, root } from "../../harness/checkout.ts";
import { audioDirectory } from "../../harness/diarized-recording.ts";
import { softwareGpu } from "../../harness/software-gpu.ts";
import { wordErrors } from "../../harness/wer.ts";
import { loadGgml } from "../../src/speech/ggml.ts";
import { openModel } from "../../src/speech/recognizer/whisper/index.ts";
import { readCommandLine, refuse, requireCorpus } from "./command-line.ts";
import { readCorpus } from "./corpus.ts";

const usage = `Compares Whisper states that share graphs with a state alone: scripts/evaluate joint [OPTION…] [NAME…]
Recognizes windows of the dialogues and meetings, or of the recordings whose path contains a NAME. Prints the speed, the
graphs and the bytes of weights for each minute of audio. Fails when fewer than 99.5 % of the words are equal.

  --states N         number of states at once (4)
  --separate         let several states have graphs of their own
  --minutes N        amount of audio (5)
  --greedy           follow one text instead of five
  --model FILE       another model than base
  --gpu WHICH        software (Mesa's device on the CPU), vulkan, or the path of CUDA's library; the CPU by default
  --audio DIRECTORY  use another corpus in the same format`;

const options = {
  states: { type: "string", default: "4" },
  separate: { type: "boolean", default: false },
  minutes: { type: "string", default: "5" },
  greedy: { type: "boolean", default: false },
  model: { type: "string", default: join(root, "build", "models", "ggml-base.bin") },
  gpu: { type: "string", default: "" },
  audio: { type: "string", default: audioDirectory },
} as const;

/** Smallest share of words that must be equal with and without joint graphs. */
const MIN_EQUAL_SHARE = 0.995;
const SAMPLE_RATE = 16_000;
/** Length of a window, as planned chunks have. A shorter rest is left out. */
const WINDOW_SECONDS = 28;
const MIN_WINDOW_SECONDS = 5;

interface Window {
  readonly language: string;
  readonly samples: Float32Array;
}

const { values, names } = readCommandLine(process.argv.slice(2), options, usage);
const [states = 1, minutes = 1] = [values.states, values.minutes].map((text) => {
  if (!/^[1-9]\d{0,3}$/.test(text)) refuse(`--states and --minutes take whole numbers from 1, not ${text}`, 2);
  return Number(text);
});
requireCorpus(values.audio);
const drivers = values.gpu === "software" ? await softwareGpu("joint graphs") : null;
if (values.gpu === "software") {
  if (drivers === null) refuse("the software GPU is not available", 1);
  // Drivers and libraries are found only by the environment that a process starts with.
  const command = process.argv.map((argument) => argument.replace(/^(--gpu=)?software$/, "$1vulkan"));
  const child = Bun.spawn(command, { env: { ...process.env, ...drivers }, stdio: ["ignore", "inherit", "inherit"] });
  process.exit(await child.exited);
}

const library = values.gpu === "vulkan" ? "libggml-vulkan.so" : resolve(values.gpu);
const gpu = values.gpu === "" ? [] : [library];
const runtime = loadGgml({ nativeDirectory: join(root, "build", "native"), gpu });
const windows = await readWindows(minutes * 60);
const alone = await recognize(1, 1);
const together = await recognize(states, values.separate ? 1 : states);
const counts = alone.map((text, i) => wordErrors(text, together[i] ?? ""));
const differing = counts.reduce(
  (sum, { substitutions, deletions, insertions }) => sum + substitutions + deletions + insertions,
  0,
);
const length = counts.reduce((sum, count) => sum + count.length, 0);
console.log(`${(100 * (1 - differing / length)).toFixed(2)} % equal (${differing} of ${length} differ)`);
if (differing > (1 - MIN_EQUAL_SHARE) * length)
  refuse(`less than ${100 * MIN_EQUAL_SHARE} % of the words are equal`, 1);
process.exit();

/** Recognizes all windows with some states at once and prints what it took. @returns their texts */
async function recognize(count: number, jointStates: number): Promise<string[]> {
  const model = openModel(runtime, values.model, values.gpu !== "", jointStates);
  const texts: string[] = [];
  const waiting = windows.entries();
  const threads = Math.max(1, Math.floor(availableParallelism() / count));
  const pass = { beamSize: values.greedy ? 1 : 5, withoutTimestamps: true, suppressNonSpeech: true } as const;
  const start = performance.now();
  const work = async () => {
    const state = model.createState();
    for (const [index, { language, samples }] of waiting) {
      const { segments } = await state.transcribe(samples, { ...pass, language, threads, temperatureIncrement: 0 });
      texts[index] = segments.map(({ text }) => text).join(" ");
    }
    state.dispose();
  };
  await Promise.all(Array.from({ length: count }, work));
  const seconds = (performance.now() - start) / 1000;
  const { graphs, weightBytes } = model.work();
  model.dispose();
  const audioMinutes = windows.reduce((sum, { samples }) => sum + samples.length, 0) / SAMPLE_RATE / 60;
  const figures = [
    `${count} at once, ${jointStates === 1 ? "separate" : "joint"}: ${((60 * audioMinutes) / seconds).toFixed(1)} times real time`,
    `${(graphs / audioMinutes).toFixed(0)} graphs and ${(weightBytes / audioMinutes / 1e9).toFixed(2)} GB of weights a minute of audio`,
  ];
  console.log(figures.join(", "));
  return texts;
}

async function readWindows(seconds: number): Promise<Window[]> {
  const corpus = await readCorpus(values.audio);
  const chosen = corpus.filter(({ group, path }) =>
    names.length === 0 ? group === "dialogue" || group === "meeting" : names.some((name) => path.includes(name)),
  );
  const found: Window[] = [];
  let left = seconds * SAMPLE_RATE;
  for (const { file, language } of chosen) {
    const samples = left > 0 ? await readSamples(file) : new Float32Array();
    for (let first = 0; first < samples.length && left > 0; first += WINDOW_SECONDS * SAMPLE_RATE) {
      const window = samples.slice(first, first + Math.min(WINDOW_SECONDS * SAMPLE_RATE, left));
      if (window.length < MIN_WINDOW_SECONDS * SAMPLE_RATE) continue;
      found.push({ language, samples: window });
      left -= window.length;
    }
  }
  if (found.length === 0) refuse("no recording has such a name", 1);
  return found;
}

async function readSamples(file: string): Promise<Float32Array> {
  const output = ["-f", "f32le", "-ac", "1", "-ar", String(SAMPLE_RATE), "-"];
  const child = Bun.spawn([mediaToolPath, "-v", "error", "-i", file, ...output], {
    ...{ stdin: "ignore", stdout: "pipe", stderr: "inherit" },
  });
  return new Float32Array(await new Response(child.stdout).arrayBuffer());
}
