import { mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { blockCount } from "../../blocks/index.ts";
import { type computeOptions, SpeechEngine } from "../../devices/index.ts";
import { DiskSpace } from "../../disk/index.ts";
import type { Engine } from "../../engine/index.ts";
import type { ProgramFiles } from "../../program/index.ts";
import { withSpeechSample } from "../../server/index.ts";
import { createLogger } from "../../telemetry/index.ts";
import { type Chunk, chunkAudioSeconds, type PcmFile, SAMPLE_RATE } from "../../timeline/index.ts";

/** Options of a measurement. */
interface MeasureOptions {
  readonly files: ProgramFiles;
  /** Path of the speech model. */
  readonly speechModel: string;
  /** Path of the model that detects languages, which may be the same. */
  readonly languageModel: string;
  readonly compute: ReturnType<typeof computeOptions>;
  readonly recording: PcmFile;
  /** Duration of the transcription; at least one chunk per recording is transcribed. */
  readonly seconds: number;
  /** Directory for step files; each measurement creates its own directory in it. */
  readonly directory: string;
  readonly verdictsPath: string;
  readonly signal: AbortSignal;
  /** Called with the name of each step, in a word or two. */
  readonly onStep: (step: string) => void;
}

/** Results of one measurement. */
export interface Measurement {
  readonly threads: number;
  /** `cpu`, or the backend of the GPU that the recognizer used. */
  readonly device: string;
  /** Whether the CPU detects speech and diarizes in processes of their own, while a GPU transcribes. */
  readonly stepsOverlap: boolean;
  /** Seconds of work for each second of audio, by step. */
  readonly costs: Readonly<Record<"detect" | "transcribe" | "diarize", number>>;
  /** Seconds to detect the language of one chunk; a recording needs up to five such detections. */
  readonly languageSeconds: number;
  /** Seconds of speech transcribed in the measurement. */
  readonly transcribedSeconds: number;
  /** Peak memory of the workers; null if the system does not report it. */
  readonly peakBytes: number | null;
}

/** Minimum number of chunks that are requested at the same time: one waits while a single lane processes another. */
const MIN_REQUESTS = 2;

/**
 * Measures the engine as a server runs it, with models loaded and warm. It runs all steps of a recording, then
 * transcribes chunks in parallel for the given duration.
 * @throws {Error} with the reason why no worker can start; the signal's reason after an abort
 */
export async function measure(options: MeasureOptions): Promise<Measurement> {
  const { files, recording: pcm, signal, speechModel: model, languageModel, compute, verdictsPath } = options;
  const directory = mkdtempSync(join(options.directory, "steps-"));
  const area = { directory, pcm };
  let device = "cpu";
  const speechEngine = new SpeechEngine({
    files,
    speechModels: () => [model, ...(languageModel === model ? [] : [languageModel])],
    ...compute,
    verdictsPath,
    withSample: (use) => withSpeechSample(files, use),
    slots: () => 0,
    lackOfSpace: (bytes) => new DiskSpace(directory, () => 0).shortage(bytes, "work"),
    log: createLogger("silent"),
    onCompletion: (work) => {
      if (work.step === "transcribe") device = work.device;
    },
  });
  const { engine } = speechEngine;
  try {
    options.onStep("loading models");
    await ready(engine, signal);
    options.onStep("testing an encoder");
    const path = await speechEngine.encoderOf(model, Number.POSITIVE_INFINITY, signal);
    const encoder = path === null ? {} : { encoder: path };
    const blocks = Array.from({ length: blockCount(pcm.sampleCount) }, (_, block) => block);
    const detect = async (block: number) => engine.run("detectBlock", { area, block }, signal);
    const embed = async (block: number) => engine.run("embedBlock", { area, block }, signal);
    const transcribe = async (chunk: Chunk) =>
      engine.run("transcribe", { area, chunk, model, ...encoder, language: "en" }, signal);

    options.onStep("warming up");
    await detect(0);
    options.onStep("speech detection");
    const speakerWorkers = engine.status().workers.filter(({ role }) => role === "speakers").length;
    // Each speaker worker gets as much to do as the others.
    const repeats = Math.max(1, speakerWorkers);
    const detectSeconds = await timed(() => Promise.all(repeated(blocks, repeats).map(detect)));
    const { chunks } = await engine.run("planChunks", { area }, signal);
    const [first] = chunks;
    if (first === undefined) throw new Error("the models detect no speech in a recording of continuous speech");
    options.onStep("speaker diarization");
    const diarizeSeconds = await timed(async () => {
      await Promise.all(repeated(blocks, repeats).map(embed));
      await engine.run("clusterSpeakers", { area }, signal);
    });
    options.onStep("language detection");
    // The first call allocates the recognizer's memory and warms it up.
    const detector = { model: languageModel, ...(languageModel === model ? encoder : {}) };
    const detectLanguage = () => engine.run("detectLanguage", { area, chunk: first, ...detector }, signal);
    await detectLanguage();
    const languageSeconds = await timed(detectLanguage);

    options.onStep("transcription");
    const requests = Math.max(MIN_REQUESTS, engine.partsAtOnce);
    let transcribedSeconds = 0;
    let next = 0;
    const started = performance.now();
    const oneRequest = async () => {
      do {
        const chunk = chunks[next++ % chunks.length] ?? first;
        await transcribe(chunk);
        transcribedSeconds += chunkAudioSeconds(chunk);
      } while (performance.now() - started < options.seconds * 1000);
    };
    const transcribeSeconds = await timed(() => Promise.all(Array.from({ length: requests }, oneRequest)));
    const detectedSeconds = (repeats * pcm.sampleCount) / SAMPLE_RATE;
    return {
      threads: compute.threads,
      device,
      stepsOverlap: speakerWorkers > 0,
      costs: {
        detect: detectSeconds / detectedSeconds,
        transcribe: transcribeSeconds / transcribedSeconds,
        diarize: diarizeSeconds / detectedSeconds,
      },
      languageSeconds,
      transcribedSeconds,
      peakBytes: peakOf(engine.status().workers),
    };
  } finally {
    await speechEngine.close();
  }
}

/** Waits until the models are loaded. If a worker does not start, throws the reason of its first failure. */
async function ready(engine: Engine, signal: AbortSignal): Promise<void> {
  let isReady = false;
  void engine.ready().then(() => {
    isReady = true;
  });
  while (!isReady) {
    signal.throwIfAborted();
    const reason = engine.status().trouble;
    if (reason !== null) throw new Error(reason);
    await Bun.sleep(20);
  }
}

function repeated<T>(items: readonly T[], times: number): T[] {
  return Array.from({ length: times }, () => items).flat();
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}

function peakOf(workers: readonly { readonly pid: number | null }[]): number | null {
  try {
    const peaks = workers.map(
      ({ pid }) => /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1],
    );
    return peaks.includes(undefined) ? null : peaks.reduce((sum, kilobytes) => sum + Number(kilobytes) * 1024, 0);
  } catch {
    return null;
  }
}
