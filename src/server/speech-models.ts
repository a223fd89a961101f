import { existsSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Settings } from "../config/index.ts";
import { openDatabase, type Store } from "../database/index.ts";
import { computeOptions, requireCpuVariant, SpeechEngine, type SpeechEngineOptions } from "../devices/index.ts";
import { decodeRecording } from "../media/index.ts";
import { type SpeechModel, SpeechModels } from "../models/index.ts";
import type { RecordingModels } from "../pipeline/index.ts";
import type { ProgramFiles } from "../program/index.ts";
import type { Recordings } from "../recordings/index.ts";
import { type Language, validateModelFile } from "../speech/index.ts";
import type { DataPaths } from "../storage/index.ts";
import { messageOf } from "../text/index.ts";
import { orStartError, StartError } from "./start-error.ts";

/** The places of speech models: the built-in one, and the data directory's. */
interface ModelPlaces {
  readonly files: ProgramFiles;
  readonly dataDirectory: Pick<DataPaths, "models">;
}

type EngineSettings = Pick<Settings, "engine">;

/** A model and its languages. */
interface UsableModel {
  readonly id: string;
  readonly languages: readonly Language[];
}

/**
 * Returns a function that gives the current speech model for new recordings and its languages.
 * @throws {StartError} if there is no readable model now
 */
export function usableSpeechModel({ engine }: EngineSettings, speech: SpeechModels): () => UsableModel {
  const inUse = () => {
    const { id, path } = speech.current();
    return { id, languages: speech.languagesOf({ id, path }) };
  };
  const from = engine.whisper_model === "" ? "the chosen model (transcribe models use)" : "engine.whisper_model";
  orStartError(from, () => {
    speech.requireCurrent();
    // Checked here once; the worker's self-tests would report it for each variant of the CPU backend.
    validateModelFile(speech.current().path);
  });
  orStartError("engine.recognizers", () => speech.requireRoutes());
  return inUse;
}

/** Returns the speech models of a server, as the APIs for existing clients show them. */
export function compatModels(speech: SpeechModels, current: () => UsableModel) {
  return {
    current,
    installed: () =>
      speech
        .installed()
        .map(({ id, path }) => ({ id, createdAt: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 })),
    find(id: string): UsableModel | null {
      const model = speech.installed().find((installed) => installed.id === id);
      return model === undefined ? null : { id, languages: speech.languagesOf(model) };
    },
    translationRefusal: (id: string) => speech.translationRefusal(id),
  };
}

/**
 * Returns the speech models of a data directory, for reading alone. A database that cannot name the chosen model,
 * because it is damaged or of an earlier version, is treated as a new one.
 * @param database a database open for reading; null if there is none
 */
export function readSpeechModels(
  settings: EngineSettings,
  { database, ...places }: ModelPlaces & { readonly database: Store | null },
): SpeechModels {
  try {
    if (database !== null) {
      const models = SpeechModels.of(settings, { ...places, store: database });
      models.current();
      return models;
    }
  } catch {
    // The database's own checks report the fault.
  }
  return SpeechModels.of(settings, { ...places, store: openDatabase(":memory:") });
}

/** Maximum duration in seconds; the bundled recording has eleven seconds. */
const MAX_SAMPLE_SECONDS = 60;

/**
 * Decodes the bundled recording to 16 kHz mono signed 16-bit samples, for the duration of `use`. The file is in a directory
 * of its own.
 * @param parent place of that directory; a killed process leaves it behind, so that a server cleans up the place
 */
export async function withSpeechSample<T>(
  files: Pick<ProgramFiles, "ffmpeg" | "benchRecording">,
  use: (pcmPath: string) => Promise<T>,
  parent = tmpdir(),
): Promise<T> {
  const directory = await mkdtemp(join(parent, "transcribe-sample-"));
  try {
    const outputPath = join(directory, "sample.pcm");
    await decodeRecording({
      ffmpegPath: files.ffmpeg,
      inputPath: files.benchRecording,
      outputPath,
      maxSeconds: MAX_SAMPLE_SECONDS,
    });
    return await use(outputPath);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Checks that this machine can use the CPU variant of the settings. @throws {StartError} with those that it can use */
export async function requireCpuVariantOf(
  { engine }: EngineSettings,
  { nativeDirectory }: ProgramFiles,
): Promise<void> {
  await requireCpuVariant({ nativeDirectory, cpuVariant: engine.cpu_variant }).catch((error: unknown) => {
    throw new StartError(messageOf(error));
  });
}

interface SpeechOptions
  extends Omit<
    SpeechEngineOptions,
    "speechModels" | "threads" | "lanes" | "decoderSlots" | "device" | "cpuVariant" | "cudaLibrary" | "withSample"
  > {
  readonly speech: SpeechModels;
  readonly recordings: Recordings;
  /** Place of temporary files. */
  readonly temporaryDirectory: string;
}

/**
 * Starts the engine with the speech models that it needs: the current one for new recordings, and those that open
 * recordings were created for.
 */
export function startSpeechEngine(
  { engine: settings }: EngineSettings,
  { speech, recordings, temporaryDirectory, ...options }: SpeechOptions,
): { readonly speechEngine: SpeechEngine; readonly models: RecordingModels } {
  const speechEngine = new SpeechEngine({
    ...options,
    ...computeOptions(settings),
    withSample: (use) => withSpeechSample(options.files, use, temporaryDirectory),
    speechModels() {
      const current = speech.current();
      const open = recordings.open.models().flatMap((id) => speech.find(id) ?? []);
      const companions = [current, ...open].flatMap((model) => companionOf(speech, model) ?? []);
      const routed = speech.routes().map(({ model }) => model);
      const others = [...open, ...companions, ...routed]
        .map(({ path }) => path)
        .filter((path) => path !== current.path);
      return [current.path, ...new Set(others)];
    },
  });
  const models: RecordingModels = {
    current: () => speech.current(),
    find: (id) => speech.find(id),
    companionOf: (model) => speech.companionOf(model),
    routes: () => speech.routes(),
    languagesOf: (model) => speech.languagesOf(model),
    sha256Of: (model) => speech.sha256Of(model),
    admit: ({ path }, signal) => speechEngine.admit(path, signal),
    encoderOf: ({ path }, spokenSeconds, signal) => speechEngine.encoderOf(path, spokenSeconds, signal),
    knownEncoderOf: ({ path }, signal) => speechEngine.knownEncoderOf(path, signal),
  };
  return { speechEngine, models };
}

/** Returns a model's companion; null also when the model's file is missing, which the engine reports. */
function companionOf(speech: SpeechModels, model: SpeechModel): SpeechModel | null {
  return existsSync(model.path) ? speech.companionOf(model) : null;
}
