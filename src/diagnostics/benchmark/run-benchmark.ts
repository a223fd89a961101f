import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { findRunningServer } from "../../api-contract/index.ts";
import type { Settings } from "../../config/index.ts";
import { readDatabase } from "../../database/index.ts";
import { computeOptions } from "../../devices/index.ts";
import { decodeRecording, PCM_BYTES_PER_SAMPLE, PCM_SAMPLE_RATE_HZ } from "../../media/index.ts";
import { familyFacts, type SpeechModel } from "../../models/index.ts";
import type { ProgramFiles } from "../../program/index.ts";
import { openProgramParts, readSpeechModels } from "../../server/index.ts";
import { DataPaths } from "../../storage/index.ts";
import { count } from "../../text/index.ts";
import type { PcmFile } from "../../timeline/index.ts";
import { attempt } from "../doctor/machine.ts";
import { type Measurement, measure } from "./measure.ts";

export interface BenchmarkOptions {
  readonly settings: Settings;
  /** Approximate total duration; each row takes at least a few seconds. */
  readonly seconds: number;
  readonly signal: AbortSignal;
  readonly onStep: (step: string) => void;
}

export interface Benchmark {
  /** Id of the speech model in use. */
  readonly model: string;
  /** Results for the device that a server would use first, with the threads in the settings; then for the alternative. */
  readonly rows: readonly BenchmarkRow[];
  /** Reasons why the figures are lower than they could be. */
  readonly notes: readonly string[];
}

/** A measurement, and the throughput of a machine that does nothing else, derived from it. */
export interface BenchmarkRow extends Measurement {
  /** Hours of continuous speech processed in one hour. Pauses in a recording add to this. */
  readonly audioHoursPerHour: number;
  /** Minutes until five recordings of one hour each, sent at the same time, have all completed. */
  readonly fiveHoursMinutes: number;
}

/** Time for one row to load models and run the other steps than transcription; measured on two cores, Whisper base. */
const OVERHEAD_SECONDS = 6;

/**
 * Measures how fast this machine transcribes on the device that a server would use. If this is a GPU, it then measures
 * the CPU, otherwise half the threads. It works in a temporary directory and changes nothing else.
 * @throws {Error} with the reason why nothing can be measured; the signal's reason after an abort
 */
export async function runBenchmark(options: BenchmarkOptions): Promise<Benchmark> {
  const { settings, signal, onStep } = options;
  return await withBench(settings, async ({ files, paths, directory, model, notes }) => {
    // A missing file is reported by the worker.
    const languageModel = familyFacts(model)?.detectsLanguage === false ? files.speechModel : model.path;
    // The server's cached self-test results save running the self-tests again. New results stay in the temporary
    // directory.
    const verdictsPath = join(directory, "devices.json");
    // The file may belong to another user: then the self-tests run again.
    if (existsSync(paths.verdicts)) attempt(() => copyFileSync(paths.verdicts, verdictsPath));
    onStep("preparing");
    const recording = await makeRecording(files, directory, signal);
    const compute = computeOptions(settings.engine);
    const { threads } = compute;
    const row = async (threads: number, usesGpu: boolean, seconds: number): Promise<BenchmarkRow> => {
      const name = `${count(threads, "thread")}${usesGpu ? "" : ", CPU only"}`;
      const measurement = await measure({
        ...{ files, recording, directory, verdictsPath, signal, seconds, languageModel },
        speechModel: model.path,
        compute: { ...compute, threads, ...(usesGpu ? {} : { device: "cpu" }) },
        onStep: (step) => onStep(`${name}: ${step}`),
      });
      return { ...measurement, ...predict(measurement) };
    };
    const half = Math.floor(threads / 2);
    const rows = [await row(threads, true, Math.max(1, options.seconds * 0.6 - OVERHEAD_SECONDS))];
    const rest = Math.max(1, options.seconds * 0.4 - OVERHEAD_SECONDS);
    if (rows[0]?.device !== "cpu") rows.push(await row(threads, false, rest));
    else if (half >= 1) rows.push(await row(half, false, rest));
    return { model: model.id, rows, notes };
  });
}

interface Bench {
  readonly files: ProgramFiles;
  readonly paths: DataPaths;
  /** A temporary directory. */
  readonly directory: string;
  /** The speech model that a server would use. */
  readonly model: SpeechModel;
  readonly notes: string[];
}

/** Calls `use` with what a measurement needs. @throws {Error} with the reason why nothing can be measured */
export async function withBench<T>(settings: Settings, use: (bench: Bench) => Promise<T>): Promise<T> {
  const paths = new DataPaths(settings.storage.data_dir);
  const notes = await notesOn(paths);
  const directory = mkdtempSync(join(tmpdir(), "transcribe-bench-"));
  const parts = await openProgramParts(settings);
  try {
    const { files } = parts;
    if (files instanceof Error) throw files;
    return await use({ files, paths, directory, model: modelOf(settings, paths, files), notes });
  } finally {
    parts.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Returns reasons why figures are lower than they could be. */
async function notesOn(paths: DataPaths): Promise<string[]> {
  const processors = availableParallelism();
  const [load = 0] = loadavg();
  const server = await findRunningServer(paths);
  const notes: string[] = [];
  if (server !== null) notes.push(`a server is running (process ${server.pid}): its work makes the figures lower`);
  if (load > processors / 2) {
    notes.push(
      `other programs use the machine (load ${load.toFixed(1)} on ${processors} processors): the figures are too low`,
    );
  }
  return notes;
}

/** Returns the speech model that a server would use. */
function modelOf(settings: Settings, paths: DataPaths, files: ProgramFiles) {
  const database = existsSync(paths.databasePath) ? attempt(() => readDatabase(paths.databasePath)) : null;
  try {
    return readSpeechModels(settings, { files, dataDirectory: paths, database }).current();
  } finally {
    database?.$client.close();
  }
}

/** Length of the recording: longer than one detection block (122 s), like real recordings. */
const RECORDING_SECONDS = 130;

/** Creates a recording of continuous speech, which repeats the clip of eleven seconds that the program contains. */
async function makeRecording(files: ProgramFiles, directory: string, signal: AbortSignal): Promise<PcmFile> {
  const decoded = join(directory, "clip.pcm");
  const { ffmpeg: ffmpegPath, benchRecording: inputPath } = files;
  await decodeRecording({ ffmpegPath, inputPath, outputPath: decoded, maxSeconds: 60, signal });
  const clip = await Bun.file(decoded).bytes();
  const bytes = RECORDING_SECONDS * PCM_SAMPLE_RATE_HZ * PCM_BYTES_PER_SAMPLE;
  const path = join(directory, "recording.pcm");
  await using file = await open(path, "w");
  for (let written = 0; written < bytes; written += clip.length) {
    await file.write(clip, 0, Math.min(clip.length, bytes - written));
  }
  return { path, sampleCount: bytes / PCM_BYTES_PER_SAMPLE };
}

/** Maximum number of chunks of a recording that language detection uses. */
const LANGUAGE_VOTES = 5;
const SECONDS_PER_HOUR = 3600;

/**
 * Predicts the throughput from a measurement, which already includes the gain from parallel work. On a CPU all steps
 * share the same processor, so their costs add up, however many recordings there are. Next to a GPU, the slower of the
 * two processors limits the throughput.
 */
export function predict({
  costs,
  languageSeconds,
  stepsOverlap,
}: Pick<Measurement, "costs" | "languageSeconds" | "stepsOverlap">) {
  const recognizer = SECONDS_PER_HOUR * costs.transcribe + LANGUAGE_VOTES * languageSeconds;
  const speakers = SECONDS_PER_HOUR * (costs.detect + costs.diarize);
  const secondsPerHour = stepsOverlap ? Math.max(recognizer, speakers) : recognizer + speakers;
  return { audioHoursPerHour: SECONDS_PER_HOUR / secondsPerHour, fiveHoursMinutes: (5 * secondsPerHour) / 60 };
}
