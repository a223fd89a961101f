import { availableParallelism } from "node:os";
import { join } from "node:path";
import { programCommand } from "../../harness/program.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { Engine, type WorkerStart } from "../../src/engine/index.ts";
import { programFiles } from "../../src/program/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";
import { blockCount, SAMPLE_RATE, type WorkArea } from "../../src/timeline/index.ts";
import { corpusOption, requireCorpus, samplesOf } from "../corpus/index.ts";
import { circumstances } from "../shared/circumstances.ts";
import { defineCommand } from "../shared/command.ts";
import { median, timed } from "../shared/figures.ts";
import { flag, whole } from "../shared/options.ts";
import { cpuSecondsOf } from "../shared/processes.ts";
import { asText, headingOf } from "../shared/table.ts";
import { makeRecording, type RecordingName, recordingNames } from "./recordings.ts";
import { coresTable, type SpeakerFigures, type SpeakerStep, speakerSteps } from "./speakers-tables.ts";

const never = new AbortController().signal;

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
    const figures: SpeakerFigures[] = [];
    for (let run = 1; run <= runs; run++) {
      for (const recording of recordingNames) {
        console.error(`run ${run} of ${runs}, ${recording}`);
        figures.push({ recording, ...(await measure(recording, { audio, workers, folder: folder.path })) });
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

interface Terms {
  readonly audio: string;
  readonly workers: number;
  readonly folder: string;
}

/** Runs all operations of the speaker models on copies of a recording. */
async function measure(
  name: RecordingName,
  { audio, workers, folder }: Terms,
): Promise<Omit<SpeakerFigures, "recording">> {
  const { file } = await makeRecording(name, audio, folder);
  const samples = await samplesOf(file);
  const path = join(folder, `${name}.pcm`);
  await Bun.write(
    path,
    Int16Array.from(samples, (sample) => Math.round(32_767 * sample)),
  );
  const pcm = { path, sampleCount: samples.length };
  const directories = Array.from({ length: workers }, () => temporaryDirectory());
  const areas = directories.map((directory) => ({ directory: directory.path, pcm }));
  const engine = await speakerEngine(workers);
  try {
    const cpuSeconds = () =>
      engine.status().workers.reduce((sum, { pid }) => sum + (pid === null ? 0 : cpuSecondsOf(pid)), 0);
    const hours = (workers * samples.length) / SAMPLE_RATE / 3600;
    const steps = {} as Record<SpeakerStep, number>;
    let seconds = 0;
    for (const step of speakerSteps) {
      const before = cpuSeconds();
      seconds += (await timed(() => Promise.all(areas.map((area) => operations[step](engine, area))))).seconds;
      steps[step] = (cpuSeconds() - before) / hours;
    }
    return { steps, speed: (3600 * hours) / seconds };
  } finally {
    await engine.close();
    for (const directory of directories) directory[Symbol.dispose]();
  }
}

/** Returns an engine with speaker workers whose models are loaded. */
async function speakerEngine(workers: number): Promise<Engine> {
  const { nativeDirectory, onnxBinding, segmentationModel, embeddingModel, speechModel } = await programFiles("");
  const models = { nativeDirectory, onnxBinding, segmentationModel, embeddingModel, speechModel };
  const one = { lanes: 1, threads: 1, speechThreads: 1, cpuLibrary: "none" };
  const start: WorkerStart = { type: "start", role: "speakers", ...models, ...one };
  const engine = new Engine({
    command: programCommand("__worker"),
    prepare: async () => [start, ...Array.from({ length: workers - 1 }, () => start)],
    log: createLogger("silent"),
  });
  await Promise.all(Array.from({ length: 2 * workers }, () => engine.run("selfTest", {}, never)));
  return engine;
}

const operations: Readonly<Record<SpeakerStep, (engine: Engine, area: WorkArea) => Promise<void>>> = {
  async detectBlock(engine, area) {
    for (const block of blocksOf(area)) await engine.run("detectBlock", { area, block }, never);
  },
  async embedBlock(engine, area) {
    for (const block of blocksOf(area)) await engine.run("embedBlock", { area, block }, never);
  },
  async clusterSpeakers(engine, area) {
    await engine.run("clusterSpeakers", { area }, never);
  },
  // The speech spans of the chunks stand for the recognized sentences.
  async embedSentences(engine, area) {
    const { chunks } = await engine.run("planChunks", { area }, never);
    for (const [block, { speech }] of chunks.entries()) {
      await engine.run("embedSentences", { area, spans: [...speech], block }, never);
    }
  },
};

function blocksOf({ pcm }: WorkArea): readonly number[] {
  return Array.from({ length: blockCount(pcm.sampleCount) }, (_, block) => block);
}
