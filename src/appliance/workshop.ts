import { statSync, symlinkSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { basename, extname, join, resolve } from "node:path";
import { createAccount, Usage } from "../accounts/index.ts";
import type { Settings } from "../config/index.ts";
import { type Engine, readModelLanguages } from "../engine/index.ts";
import { type ExportFormat, exportTranscript, recordingDocument } from "../exports/index.ts";
import { type SegmentResource, toSegment } from "../http/index.ts";
import { probeRecording } from "../media/index.ts";
import { processRecording } from "../pipeline/index.ts";
import { programFiles } from "../program/index.ts";
import { DataPaths, DiskRoom, openDatabase } from "../storage/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { type Recording, Recordings, readSegments } from "../transcriptions/index.ts";
import { messageOf } from "../wording/index.ts";
import { createMetrics } from "./create-metrics.ts";
import { pipelineServices } from "./pipeline-services.ts";
import { RunningSettings } from "./running-settings.ts";
import { speechModelsFor } from "./speech-models-for.ts";
import { StartError } from "./start-error.ts";
import { temporaryDataDirectory } from "./temporary-data-directory.ts";
import { userCache } from "./user-cache.ts";
import { WorkerModels } from "./worker-models.ts";

/** One recording to be transcribed here. */
export interface LocalTranscription {
  readonly file: string;
  /** ISO code; undefined: found out. */
  readonly language: string | undefined;
  readonly signal: AbortSignal;
  readonly onProgress: (step: string, percent: number | null) => void;
}

/** What became of it. */
export interface LocalTranscript {
  readonly recording: Recording;
  /** Empty unless it is completed. */
  readonly segments: SegmentResource[];
  /** The transcript as a file. @throws ExportError */
  export(format: ExportFormat): Promise<Uint8Array>;
}

/** The pipeline and its worker without a server; what it keeps while it works is gone when it is disposed of. */
export interface Workshop extends AsyncDisposable {
  /** @throws {StartError} for what is no recording, or a worker that can't start @throws the signal's reason */
  transcribe(transcription: LocalTranscription): Promise<LocalTranscript>;
}

const lookMilliseconds = 200;

/**
 * Opens a workshop in the system's directory for temporary files.
 * @throws {SettingsError} @throws {StartError} for a model that can't be read
 */
export async function openWorkshop(settings: Settings, log: Logger): Promise<Workshop> {
  const now = Date.now;
  // One's own recordings, on one's own machine: there is nobody whose share they could take.
  const unmetered = { ...settings.limits, audio_minutes_per_day: Number.MAX_SAFE_INTEGER };
  const running = new RunningSettings({ ...settings, limits: unmetered });
  await using stack = new AsyncDisposableStack();
  const { directory: dataDirectory } = stack.use(temporaryDataDirectory(tmpdir(), now()));
  const cache = userCache(process.env) ?? dataDirectory.root;
  const files = await programFiles(settings.storage.runtime_dir || join(cache, "runtime"));
  const store = openDatabase(dataDirectory.databasePath);
  stack.defer(() => store.$client.close());
  const recordings = new Recordings(store, now);
  const speech = speechModelsFor(settings, { files, dataDirectory: new DataPaths(settings.storage.data_dir), store });
  const model = speech.current();
  const languages = languagesOf(model.path);
  const metrics = createMetrics({
    ...{ recordings, dataPaths: dataDirectory, now },
    engine: () => models.engine,
    modelInUse: () => model.id,
    ...{ certificateEndsAt: () => null, stalled: () => [] },
  });
  const models = new WorkerModels({
    // Nobody reads how this command stands.
    ...{ onWork: () => {}, onWorkerDeath: () => {} },
    ...{ files, speech, recordings, log },
    threads: settings.engine.threads || availableParallelism(),
    verdictsPath: join(cache, "devices.json"),
  });
  const { engine } = models;
  stack.defer(() => engine.close());
  const usage = new Usage(store);
  const services = pipelineServices({
    ...{ store, recordings, dataDirectory, engine, models, usage, metrics, log, now, running, files },
    // Who waits before a terminal is told at once.
    ...{ room: new DiskRoom(dataDirectory.root, () => 0), waitsForMachine: false },
  });
  const account = createAccount(store, "run", { actor: "run", now: now() });
  const opened = stack.move();

  return {
    async transcribe({ file, language, signal, onProgress }) {
      const pinnedLanguage = pinned(languages, language);
      onProgress("open", null);
      // ffmpeg is started elsewhere than here.
      const path = resolve(file);
      const probed = await probeRecording(files.ffmpeg, path, signal);
      if (!probed.ok) throw new StartError(`${file}: ${probed.reason}`);
      await untilReady(engine, signal);
      const id = Bun.randomUUIDv7();
      // The recording stays where it is; what is removed in the end is the link.
      symlinkSync(path, dataDirectory.uploadPath(id));
      recordings.create({
        ...{ id, accountId: account.id, workspaceId: null, pinnedLanguage, speechModel: model.id, sourceUrl: null },
        ...{ sourceName: basename(file, extname(file)), sizeBytes: statSync(path).size },
      });
      const look = setInterval(() => {
        const { step, percent } = recordings.get(id) ?? { step: null, percent: null };
        if (step !== null) onProgress(step, percent);
      }, lookMilliseconds);
      try {
        await processRecording(services, id, signal);
      } finally {
        clearInterval(look);
      }
      signal.throwIfAborted();
      const recording = recordings.get(id);
      if (recording === null) throw new Error(`recording ${id} is gone`);
      return {
        recording,
        segments: readSegments(store, id, 0, Number.MAX_SAFE_INTEGER).map(toSegment),
        export: (format) =>
          exportTranscript(format, recordingDocument(store, recording), { workDirectory: dataDirectory.incoming }),
      };
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

function languagesOf(modelPath: string) {
  try {
    return readModelLanguages(modelPath);
  } catch (error) {
    throw new StartError(`${modelPath}: ${messageOf(error)}`);
  }
}

/** @throws {StartError} for a code that the model does not know */
function pinned(languages: ReturnType<typeof readModelLanguages>, code: string | undefined): string | null {
  if (code === undefined) return null;
  const language = languages.find((candidate) => candidate.code === code.trim().toLowerCase());
  if (language !== undefined) return language.code;
  throw new StartError(`the model knows no language ${code}; it knows ${languages.map((each) => each.code).join(" ")}`);
}

/** A worker starts in a second or two; one that fails again and again never will. */
async function untilReady(engine: Engine, signal: AbortSignal): Promise<void> {
  for (let ready = false; !ready; ) {
    signal.throwIfAborted();
    const { state, trouble } = engine.status();
    if (state === "failing") throw new StartError(`the inference worker does not start: ${trouble}`);
    ready = await Promise.race([engine.ready().then(() => true), Bun.sleep(lookMilliseconds).then(() => false)]);
  }
}
