import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAccount } from "../accounts/index.ts";
import type { Settings } from "../config/index.ts";
import { openDatabase } from "../database/index.ts";
import { DiskSpace } from "../disk/index.ts";
import { isAdministrator, pathSteps, untrustedWriter } from "../files/index.ts";
import { type SpeechModel, SpeechModels } from "../models/index.ts";
import { programFiles } from "../program/index.ts";
import { RecordingEvents, Recordings } from "../recordings/index.ts";
import { validateModelFile } from "../speech/index.ts";
import { DataPaths } from "../storage/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { Usage } from "../usage/index.ts";
import { createMetrics } from "./create-metrics.ts";
import { pipelineServices } from "./pipeline-services.ts";
import { RunningSettings } from "./running-settings.ts";
import { requireCpuVariantOf, startSpeechEngine } from "./speech-models.ts";
import { orStartError, StartError } from "./start-error.ts";
import { temporaryDataDirectory } from "./temporary-data-directory.ts";
import { type LocalTranscript, type LocalTranscription, transcribeFile } from "./transcribe-file.ts";
import { userCache } from "./user-cache.ts";

/** The pipeline and its worker without a server; disposing removes its temporary data. */
export interface LocalPipeline extends AsyncDisposable {
  /** A directory for files of the caller, which is removed with the temporary data. */
  readonly directory: string;
  /**
   * Transcribes a recording.
   * @throws {StartError} for a file that is not a recording, or a worker that cannot start
   * @throws the signal's reason
   */
  transcribe(transcription: LocalTranscription): Promise<LocalTranscript>;
}

/**
 * Opens a pipeline in the system's directory for temporary files.
 * @throws {SettingsError}
 * @throws {StartError} for a model that cannot be read, or a CPU variant that cannot be used
 */
export async function openLocalPipeline(settings: Settings, log: Logger): Promise<LocalPipeline> {
  const now = Date.now;
  // No quota: users process their own recordings on their own machine and take no capacity from others.
  const unmetered = { ...settings.limits, audio_minutes_per_day: Number.MAX_SAFE_INTEGER };
  const running = new RunningSettings({ ...settings, limits: unmetered });
  await using stack = new AsyncDisposableStack();
  const { directory: dataDirectory } = stack.use(temporaryDataDirectory(tmpdir(), now()));
  const cache = userCache(process.env) ?? dataDirectory.root;
  const files = await programFiles(settings.storage.runtime_dir || join(cache, "runtime"));
  await requireCpuVariantOf(settings, files);
  const store = openDatabase(dataDirectory.databasePath);
  stack.defer(() => store.$client.close());
  const recordings = new Recordings(store, now);
  const installed = new DataPaths(settings.storage.data_dir);
  const speech = SpeechModels.of(settings, { files, dataDirectory: installed, store });
  const model = speech.current();
  if (model.path.startsWith(`${installed.models}/`)) requireOwnModel(model);
  const languages = orStartError(model.id, () => {
    validateModelFile(model.path);
    return speech.languagesOf(model);
  });
  orStartError("engine.recognizers", () => speech.requireRoutes());
  const { speechEngine, models } = startSpeechEngine(settings, {
    files,
    speech,
    recordings,
    log,
    slots: () => 1,
    lackOfSpace: (bytes) => new DiskSpace(cache, () => 0).shortage(bytes, "work"),
    verdictsPath: join(cache, "devices.json"),
    temporaryDirectory: dataDirectory.incoming,
  });
  const { engine } = speechEngine;
  stack.defer(() => speechEngine.close());
  const services = pipelineServices(running, files, {
    store,
    recordings,
    events: new RecordingEvents(store, log),
    dataDirectory,
    engine,
    models,
    usage: new Usage(store),
    metrics: createMetrics(null),
    log,
    now,
    diskSpace: new DiskSpace(dataDirectory.root, () => 0),
    // A user who waits at a terminal gets an error at once instead of a retry.
    waitsForMachine: false,
  });
  const account = createAccount(store, "run", { actor: "run", now: now() });
  const translationRefusal = () => speech.translationRefusal(model.id);
  const own = { modelId: model.id, languages, translationRefusal, accountId: account.id };
  const parts = { services, engine, ffmpegPath: files.ffmpeg, ...own };
  const opened = stack.move();
  return {
    directory: dataDirectory.incoming,
    transcribe: (transcription) => transcribeFile(parts, transcription),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/**
 * Prevents root from loading a model of a data directory that another user may change. This command works for its
 * caller, so it does not switch to that user.
 */
function requireOwnModel({ id, path }: SpeechModel): void {
  if (process.geteuid?.() !== 0) return;
  const theirs = pathSteps(path).find((passage) => untrustedWriter(passage, isAdministrator) !== null);
  if (theirs === undefined) return;
  throw new StartError(
    `${id} is installed in a data directory that users other than root may change (${theirs.path}), so root does not load it: run this as another user, or name a file that belongs to root with --model`,
  );
}
