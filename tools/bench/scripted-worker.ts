// A worker of a fleet with a scripted engine. Prints the seconds of its operations at its end. Whoever starts it removes
// its directory.
import { mkdirSync } from "node:fs";
import {
  BLOCK_SECONDS,
  blockWindows,
  frameSeconds,
  HOP_FRAMES,
  LOCAL_SPEAKERS,
  WINDOW_FRAMES,
} from "../../src/blocks/index.ts";
import { Broker, FleetWorker, type LocalEngine } from "../../src/fleet/index.ts";
import type { LiveOperation, OperationName, Params, Result, SpanOperation } from "../../src/operations/index.ts";
import { BlockActivity } from "../../src/speech/diarization/activity.ts";
import { localVoices } from "../../src/speech/diarization/clean-speech.ts";
import { writeSentenceVoices } from "../../src/speech/diarization/sentence-voices.ts";
import { type FrameSpan, writeVoices } from "../../src/speech/diarization/voices.ts";
import { createLogger } from "../../src/telemetry/index.ts";
import { chunkAudioSeconds, SAMPLE_RATE, type Span, secondsOf } from "../../src/timeline/index.ts";
import { total } from "../shared/figures.ts";

/** The operations of recordings. Live sessions are not scripted. */
type ScriptedOperation = Exclude<SpanOperation, LiveOperation>;

/** CPU seconds of each operation for an hour of audio, as measured with the default model; see docs/fleet.md. */
const CPU_SECONDS_PER_HOUR: Readonly<Record<ScriptedOperation, number>> = {
  detectBlock: 51,
  transcribe: 629,
  // As a transcript; only of recordings that are translated.
  translate: 629,
  // Of the few chunks that vote, only the encoder runs: a third of the recognizer's time.
  detectLanguage: 210,
  embedBlock: 126,
  embedSentences: 14,
};
/** All of them together, without the few chunks that vote on the language. */
const ALL_CPU_SECONDS_PER_HOUR = 820;

/** Period of the scripted dialogue, in which two people speak in turn. */
const PERIOD_SECONDS = 10;
const TURNS: readonly Span[] = [
  { startSeconds: 0.2, endSeconds: 5.7 },
  { startSeconds: 6.2, endSeconds: 9.7 },
];
const WORD_SECONDS = 0.4;
const WORDS = ["the", "figures", "of", "this", "month", "are", "better", "than", "we", "had", "expected", "before"];
/** Length of CAM++'s voice embeddings. */
const VOICE_LENGTH = 192;

/**
 * An engine that computes nothing: each operation sleeps in proportion to its audio and to its share of a real
 * recording's CPU time, and returns a scripted dialogue of two people. With such results a whole recording passes
 * through the real coordinator.
 */
class ScriptedEngine implements LocalEngine {
  readonly lanes = 1;
  readonly partsAtOnce = 1;
  readonly #timesRealTime: number;
  /** Sum of the time that operations took by their script. */
  seconds = 0;

  /** @param timesRealTime speed of the worker for whole recordings, as a multiple of real time */
  constructor(timesRealTime: number) {
    this.#timesRealTime = timesRealTime;
  }

  async run<N extends OperationName>(operation: N, params: Params<N>): Promise<Result<N>> {
    const startedAt = performance.now();
    const name = operation as ScriptedOperation;
    const { audioSeconds, result } = await script(name, params as Params<ScriptedOperation>);
    const seconds = (audioSeconds * CPU_SECONDS_PER_HOUR[name]) / ALL_CPU_SECONDS_PER_HOUR / this.#timesRealTime;
    this.seconds += seconds;
    // The time that the script itself takes is part of the operation.
    await Bun.sleep(Math.max(0, 1000 * seconds - (performance.now() - startedAt)));
    return result as Result<N>;
  }
}

/** Writes the files of an operation, and returns its result and the audio that it would compute. */
async function script(operation: ScriptedOperation, params: Params<ScriptedOperation>) {
  if ("chunk" in params) {
    const audioSeconds = chunkAudioSeconds(params.chunk);
    if (operation === "detectLanguage") return { audioSeconds, result: { probabilities: { en: 1 } } };
    const words = wordsIn(params.chunk);
    return { audioSeconds, result: { words, languages: { en: words.length * WORD_SECONDS } } };
  }
  const { area, block } = params;
  if ("spans" in params) {
    const middles = params.spans.map(({ startSeconds, endSeconds }) => (startSeconds + endSeconds) / 2);
    await writeSentenceVoices(area, block, middles.map(voiceAt));
    return { audioSeconds: total(params.spans, secondsOf), result: {} };
  }
  if (operation === "detectBlock") await activityOf(area.pcm.sampleCount, block).write(area, block);
  else await writeVoicesOf(area, block);
  const leftSeconds = area.pcm.sampleCount / SAMPLE_RATE - block * BLOCK_SECONDS;
  return { audioSeconds: Math.min(BLOCK_SECONDS, leftSeconds), result: {} };
}

function activityOf(sampleCount: number, block: number): BlockActivity {
  const { first, end } = blockWindows(sampleCount, block);
  const probabilities = new Float32Array((end - first) * WINDOW_FRAMES * LOCAL_SPEAKERS);
  for (let window = 0; window < end - first; window++) {
    for (let frame = 0; frame < WINDOW_FRAMES; frame++) {
      const speaker = speakerAt(frameSeconds((first + window) * HOP_FRAMES + frame));
      if (speaker >= 0) probabilities[(window * WINDOW_FRAMES + frame) * LOCAL_SPEAKERS + speaker] = 1;
    }
  }
  return BlockActivity.fromProbabilities(first, probabilities);
}

async function writeVoicesOf(area: Params<"embedBlock">["area"], block: number): Promise<void> {
  const activity = await BlockActivity.read(area, block);
  const voices = Array.from({ length: activity.windows }, (_, window) => localVoices(activity, window, []))
    .flat()
    .map(({ fragments, scraps, ...voice }) => {
      const spans = fragments.length > 0 ? fragments : scraps.slice(0, 1);
      return { ...voice, fragments: spans.map((span) => ({ ...span, embedding: voiceAt(middleOf(span)) })) };
    });
  await writeVoices(area, block, activity.firstWindow, voices);
}

/** Returns the words of a chunk, of 0.4 s each; each turn is a sentence. */
function wordsIn({ startSeconds, endSeconds }: Span) {
  const words: Result<"transcribe">["words"] = [];
  const firstPeriod = Math.floor(startSeconds / PERIOD_SECONDS);
  for (let period = firstPeriod; period * PERIOD_SECONDS < endSeconds; period++) {
    for (const turn of TURNS) {
      const count = Math.floor(secondsOf(turn) / WORD_SECONDS);
      for (let word = 0; word < count; word++) {
        const start = period * PERIOD_SECONDS + turn.startSeconds + word * WORD_SECONDS;
        if (start < startSeconds || start + WORD_SECONDS > endSeconds) continue;
        const text = ` ${WORDS[(period + word) % WORDS.length]}${word === count - 1 ? "." : ""}`;
        words.push({ text, startSeconds: start, endSeconds: start + WORD_SECONDS, probability: 0.9 });
      }
    }
  }
  return words;
}

/** Returns the number of the person who speaks at a time; -1 in a pause. */
function speakerAt(seconds: number): number {
  const at = seconds % PERIOD_SECONDS;
  return TURNS.findIndex(({ startSeconds, endSeconds }) => at >= startSeconds && at < endSeconds);
}

/** Number of variants of each voice. They are computed once, so that the script takes little of the machine's time. */
const VARIANTS = 64;
const VOICES = [0, 1].map((speaker) => {
  const voice = unitVector((index) => Math.sin((index + 1) * (speaker === 0 ? 1.7 : 2.9) + speaker));
  return Array.from({ length: VARIANTS }, (_, variant) =>
    unitVector((index) => (voice[index] ?? 0) + 0.02 * Math.sin(index * 5.3 + variant)),
  );
});

/** Returns the voice of the turn about a time, which varies a little from turn to turn. */
function voiceAt(seconds: number): Float32Array {
  const variants = VOICES[Math.max(0, speakerAt(seconds))] ?? [];
  return variants[Math.floor(seconds) % VARIANTS] ?? new Float32Array(VOICE_LENGTH);
}

function unitVector(element: (index: number) => number): Float32Array {
  const vector = Float32Array.from({ length: VOICE_LENGTH }, (_, index) => element(index));
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

function middleOf({ start, end }: FrameSpan): number {
  return (frameSeconds(start) + frameSeconds(end)) / 2;
}

const [, , directory = "", url = "", machine = "", build = "", model = "", timesRealTime = "100"] = process.argv;
mkdirSync(directory, { recursive: true });
const log = createLogger("error");
const broker = await Broker.connect({ url, ca: "", certificate: "", key: "", machine, log });
const engine = new ScriptedEngine(Number(timesRealTime));
const models = [{ path: "/simulation", sha256: model, prepare: async () => null }];
const worker = new FleetWorker({
  ...{ broker, build, machine, directory, log, engine, version: "simulation", instance: machine },
  models: () => models,
  status: () => ({ devices: ["simulation"], trouble: null }),
  device: () => ({ device: "cpu", gpu: "" }),
  now: Date.now,
});
process.on("SIGTERM", () => {
  void worker.stop().then(async () => {
    await broker.close();
    console.log(engine.seconds);
    process.exit(0);
  });
});
