import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import type { Settings } from "../../config/index.ts";
import { currentSpeechModel, findRunningServer, openProgramParts } from "../../server/index.ts";
import { DataPaths, readDatabase } from "../../storage/index.ts";
import { makeBenchRecording } from "./bench-recording.ts";
import { type Measurement, measure } from "./measure.ts";
import { type Prediction, predict } from "./predict.ts";

export interface BenchmarkOptions {
  readonly settings: Settings;
  /** Approximate total duration; each row takes at least a few seconds. */
  readonly seconds: number;
  readonly signal: AbortSignal;
  readonly onStep: (step: string) => void;
}

export interface BenchmarkRow extends Measurement, Prediction {}

export interface Benchmark {
  /** Id of the speech model in use. */
  readonly model: string;
  /**
   * Results for the device that a server would use first, with the number of threads in the settings; then for the
   * alternative.
   */
  readonly rows: readonly BenchmarkRow[];
  /** Reasons why the figures are lower than they could be, in plain words. */
  readonly notes: readonly string[];
}

/**
 * Time for one row to load models and run the steps other than transcription; measured on two cores with Whisper base.
 */
const overheadSeconds = 6;

/**
 * Measures how fast this machine transcribes on the device that a server would use. If this is a GPU, it then measures
 * the CPU, otherwise half the threads. It works in a temporary directory and changes nothing else.
 * @throws {Error} with the reason why nothing can be measured; the signal's reason after an abort
 */
export async function runBenchmark(options: BenchmarkOptions): Promise<Benchmark> {
  const { settings, signal, onStep } = options;
  const paths = new DataPaths(settings.storage.data_dir);
  const notes = await notesOn(paths);
  const directory = mkdtempSync(join(tmpdir(), "transcribe-bench-"));
  const parts = await openProgramParts(settings);
  try {
    if (parts.files instanceof Error) throw parts.files;
    const { files } = parts;
    const model = modelOf(settings, paths, files);
    // The server's cached self-test results save running the self-tests again. New results stay in the temporary
    // directory.
    const verdictsPath = join(directory, "devices.json");
    if (existsSync(paths.verdicts)) copyIfAllowed(paths.verdicts, verdictsPath);
    onStep("preparing");
    const recording = await makeBenchRecording(
      { ffmpegPath: files.ffmpeg, clip: files.benchRecording },
      directory,
      signal,
    );
    const threads = settings.engine.threads || availableParallelism();
    const half = Math.floor(threads / 2);
    const common = { files, speechModel: model.path, recording, directory, verdictsPath, signal };
    const row = async (threads: number, gpu: boolean, seconds: number): Promise<BenchmarkRow> => {
      const measurement = await measure({
        ...common,
        threads,
        speechDevice: gpu ? settings.engine.device : "cpu",
        cudaLibrary: settings.engine.cuda_library,
        seconds,
        onStep: (step) => onStep(`${name(threads, gpu)}: ${step}`),
      });
      return { ...measurement, ...predict(measurement) };
    };
    const first = await row(threads, true, Math.max(1, options.seconds * 0.6 - overheadSeconds));
    const rest = Math.max(1, options.seconds * 0.4 - overheadSeconds);
    const rows = [first];
    if (first.device !== "cpu") rows.push(await row(threads, false, rest));
    else if (half >= 1) rows.push(await row(half, false, rest));
    return { model: model.id, rows, notes };
  } finally {
    parts.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

const name = (threads: number, gpu: boolean) =>
  `${threads} ${threads === 1 ? "thread" : "threads"}${gpu ? "" : ", CPU alone"}`;

function modelOf(settings: Settings, paths: DataPaths, files: Parameters<typeof currentSpeechModel>[1]["files"]) {
  const database = existsSync(paths.databasePath) ? openOrNull(paths.databasePath) : null;
  try {
    return currentSpeechModel(settings, { files, dataDirectory: paths, database });
  } finally {
    database?.$client.close();
  }
}

function openOrNull(path: string) {
  try {
    return readDatabase(path);
  } catch {
    return null;
  }
}

function copyIfAllowed(from: string, to: string): void {
  try {
    copyFileSync(from, to);
  } catch {
    // The file belongs to another user: the self-tests run again.
  }
}

async function notesOn(paths: DataPaths): Promise<string[]> {
  const processors = availableParallelism();
  const [load = 0] = loadavg();
  const server = await findRunningServer(paths);
  return [
    ...(server === null
      ? []
      : [`a server runs here (process ${server.pid}): what it works on meanwhile makes the figures lower`]),
    ...(load > processors / 2
      ? [
          `other programs kept the machine busy (load ${load.toFixed(1)} on ${processors} processors): the figures are too low`,
        ]
      : []),
  ];
}
