import { availableParallelism } from "node:os";
import { join } from "node:path";
import { programCommand } from "../../harness/program.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { blockCount } from "../../src/blocks/index.ts";
import { Engine } from "../../src/engine/index.ts";
import type { WorkerStart } from "../../src/operations/index.ts";
import { programFiles } from "../../src/program/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";
import { SAMPLE_RATE, type WorkArea } from "../../src/timeline/index.ts";
import { corpusOption, requireCorpus, samplesOf } from "../corpus/index.ts";
import { circumstances } from "../shared/circumstances.ts";
import { defineCommand } from "../shared/command.ts";
import { median, timed, total } from "../shared/figures.ts";
import { flag, whole } from "../shared/options.ts";
import { cpuSecondsOf } from "../shared/processes.ts";
import { asText, headingOf, type Table } from "../shared/table.ts";
import { makeRecording, type RecordingName, recordingNames } from "./recordings.ts";

/** Interval of the checks whether the workers are ready. */
const POLL_MILLISECONDS = 20;

export const command = defineCommand({
  name: "scripts/bench speakers",
  about:
    "Measures the CPU time of speech detection and speaker diarization next to a GPU: speaker workers with one thread each, " +
    "as many as threads, which process seven minutes of meetings, and of dialogues. Prints CPU seconds for an hour of audio, " +
    "and how many cores a GPU of some speeds needs so that neither waits for the other.",
  options: {
    runs: whole("number of runs", { fallback: 3 }),
    workers: whole("number of workers, each with a copy of the recording", { fallback: availableParallelism() }),
    audio: corpusOption,
    json: flag("print the figures as JSON"),
  },
  async run({ runs, workers, audio, json }) {
    requireCorpus(audio);
    using folder = temporaryDirectory();
    const { signal } = new AbortController();
    const figures: SpeakerFigures[] = [];
    for (let run = 1; run <= runs; run++) {
      for (const recording of recordingNames) {
        console.error(`run ${run} of ${runs}, ${recording}`);
        figures.push(await measureSpeakers(recording, { audio, workers, folder: folder.path, signal }));
      }
    }
    const when = await circumstances(Date.now());
    if (json) console.log(JSON.stringify({ ...when, workers, figures }, null, 2));
    else {
      console.log(`${headingOf(when, `${workers} workers, medians of ${runs}`)}:\n`);
      for (const table of coresTable(figures)) console.log(`${asText(table)}\n`);
      const speeds = recordingNames.map((name) => {
        const speed = median(figures.filter(({ recording }) => recording === name).map((each) => each.speed));
        return `${name} ${speed.toFixed(0)} times real time`;
      });
      console.log(`All workers together, while they had the processor: ${speeds.join(", ")}`);
    }
  },
});

/**
 * Runs all operations of the speaker models on copies of a recording, one for each worker.
 * @throws the signal's reason
 */
export async function measureSpeakers(
  recording: RecordingName,
  { audio, workers, folder, signal }: { audio: string; workers: number; folder: string; signal: AbortSignal },
): Promise<SpeakerFigures> {
  const { file } = await makeRecording(recording, audio, folder);
  const samples = await samplesOf(file);
  const path = join(folder, `${recording}.pcm`);
  await Bun.write(
    path,
    Int16Array.from(samples, (sample) => Math.round(32_767 * sample)),
  );
  const pcm = { path, sampleCount: samples.length };
  const directories = Array.from({ length: workers }, () => temporaryDirectory());
  const areas = directories.map((directory) => ({ directory: directory.path, pcm }));
  const engine = await speakerEngine(workers);
  try {
    while (!areReady(engine, workers)) {
      signal.throwIfAborted();
      await Bun.sleep(POLL_MILLISECONDS);
    }
    const cpuSeconds = () =>
      engine.status().workers.reduce((sum, { pid }) => sum + (pid === null ? 0 : cpuSecondsOf(pid)), 0);
    const hours = (workers * samples.length) / SAMPLE_RATE / 3600;
    const steps = {} as Record<SpeakerStep, number>;
    let seconds = 0;
    for (const step of speakerSteps) {
      const before = cpuSeconds();
      seconds += (await timed(() => Promise.all(areas.map((area) => operations[step](engine, area, signal))))).seconds;
      steps[step] = (cpuSeconds() - before) / hours;
    }
    return { recording, steps, speed: (3600 * hours) / seconds };
  } finally {
    await engine.close();
    for (const directory of directories) directory[Symbol.dispose]();
  }
}

function areReady(engine: Engine, workers: number): boolean {
  const states = engine.status().workers.map(({ state }) => state);
  return states.length === workers && states.every((state) => state === "ready");
}

/** Returns an engine with speaker workers alone. */
async function speakerEngine(workers: number): Promise<Engine> {
  const { nativeDirectory, onnxBinding, segmentationModel, embeddingModel, speechModel } = await programFiles("");
  const models = { nativeDirectory, onnxBinding, segmentationModel, embeddingModel, speechModel };
  const one = { lanes: 1, threads: 1, speechThreads: 1, cpuLibrary: "none" };
  const start: WorkerStart = { type: "start", role: "speakers", ...models, ...one };
  return new Engine({
    command: programCommand("__worker"),
    prepare: async () => [start, ...Array.from({ length: workers - 1 }, () => start)],
    log: createLogger("silent"),
  });
}

const operations: Readonly<
  Record<SpeakerStep, (engine: Engine, area: WorkArea, signal: AbortSignal) => Promise<void>>
> = {
  async detectBlock(engine, area, signal) {
    for (const block of blocksOf(area)) await engine.run("detectBlock", { area, block }, signal);
  },
  async embedBlock(engine, area, signal) {
    for (const block of blocksOf(area)) await engine.run("embedBlock", { area, block }, signal);
  },
  async clusterSpeakers(engine, area, signal) {
    await engine.run("clusterSpeakers", { area }, signal);
  },
  // The speech spans of the chunks stand for the recognized sentences.
  async embedSentences(engine, area, signal) {
    const { chunks } = await engine.run("planChunks", { area }, signal);
    for (const [block, { speech }] of chunks.entries()) {
      await engine.run("embedSentences", { area, spans: [...speech], block }, signal);
    }
  },
};

function blocksOf({ pcm }: WorkArea): readonly number[] {
  return Array.from({ length: blockCount(pcm.sampleCount) }, (_, block) => block);
}

/** Operations of the speaker models, in the order of a recording. */
export const speakerSteps = ["detectBlock", "embedBlock", "clusterSpeakers", "embedSentences"] as const;
type SpeakerStep = (typeof speakerSteps)[number];

export interface SpeakerFigures {
  readonly recording: RecordingName;
  /** CPU seconds of each operation for an hour of audio. */
  readonly steps: Readonly<Record<SpeakerStep, number>>;
  /** Seconds of audio that all workers process in one second. */
  readonly speed: number;
}

/** Speeds of a GPU for which the number of cores is calculated, as multiples of real time. */
const GPU_SPEEDS = [100, 300, 600, 1000];

/** Returns the CPU seconds of each operation, and the cores that keep up with a GPU, both by recording. */
export function coresTable(figures: readonly SpeakerFigures[]): [cpuSeconds: Table, cores: Table] {
  const names = [...new Set(figures.map(({ recording }) => recording))];
  const columns = names.map((name) => {
    const runs = figures.filter(({ recording }) => recording === name);
    const steps = speakerSteps.map((step) => median(runs.map((run) => run.steps[step])));
    return { steps, sum: total(steps, (each) => each) };
  });
  const rows = [...speakerSteps, "together"].map((step, at) => {
    return [step, ...columns.map(({ steps, sum }) => (steps[at] ?? sum).toFixed(1))];
  });
  const cores = GPU_SPEEDS.map((speed) => {
    return [`${speed}`, ...columns.map(({ sum }) => String(Math.ceil((speed * sum) / 3600)))];
  });
  return [
    { head: ["CPU seconds for an hour of audio", ...names], lines: rows },
    { head: ["GPU, × real time: cores that keep up", ...names], lines: cores },
  ];
}
