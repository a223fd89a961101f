import { mkdirSync } from "node:fs";
import type { Usage } from "../accounts/index.ts";
import { type Engine, EngineCrashError } from "../engine/index.ts";
import { PCM_SAMPLE_RATE_HZ } from "../media/index.ts";
import type { DataDirectory, Store } from "../storage/index.ts";
import type { Logger, Metrics } from "../telemetry/index.ts";
import {
  Checkpoints,
  type Failure,
  isOpen,
  type Recording,
  type Recordings,
  type Step,
} from "../transcriptions/index.ts";
import { messageOf } from "../wording/index.ts";
import { assignSpeakers } from "./assign-speakers.ts";
import { bindModel, type RecordingModels } from "./bind-model.ts";
import { buildSegments } from "./build-segments.ts";
import { type DecodeOptions, decode } from "./decode.ts";
import { detect } from "./detect.ts";
import { diarize } from "./diarize.ts";
import { type FetchOptions, fetchSource } from "./fetch.ts";
import { chooseLanguage } from "./language.ts";
import { RecordingFailure, type StepContext } from "./step.ts";
import { transcribe } from "./transcribe.ts";

export interface PipelineServices {
  readonly store: Store;
  readonly recordings: Recordings;
  readonly dataDirectory: DataDirectory;
  readonly engine: Pick<Engine, "run">;
  readonly models: RecordingModels;
  readonly fetchOptions: () => FetchOptions;
  readonly decodeOptions: () => DecodeOptions;
  readonly usage: Usage;
  /** Seconds of audio that an account may have processed in a UTC day. */
  readonly audioAllowanceSeconds: (accountId: string) => number;
  /** Whether a recording's audio goes as soon as it has ended. */
  readonly dropsAudio: () => boolean;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly now: () => number;
}

/** Share of the whole work that each step begins and ends at, in percent; taken from the time they take on a CPU. */
const shares = {
  decode: [0, 3],
  detect: [3, 15],
  transcribe: [15, 88],
  diarize: [88, 99],
  finalize: [99, 99],
} as const;

/**
 * Works off one recording: fetch → decode → detect → transcribe → diarize → finalize, from its last checkpoint on. It ends
 * as `completed` or `failed`; when the signal aborts because the server stops it is left as it is, for a later start.
 */
export async function processRecording(services: PipelineServices, id: string, signal: AbortSignal): Promise<void> {
  const { recordings, usage, log, now } = services;
  const startedAt = now();
  const ended = (event: string, facts: object) =>
    log.info({ event, recordingId: id, milliseconds: now() - startedAt, ...facts });
  const count = (status: "completed" | "failed", reason = "", cause = "") => {
    const recording = recordings.get(id);
    const audioSeconds = recording?.durationSeconds ?? 0;
    const processingSeconds = (now() - startedAt) / 1000;
    const language = recording?.language ?? "";
    services.metrics.recordings.ended({ status, reason, cause, language, audioSeconds, processingSeconds });
  };
  try {
    const recording = await begin(services, id, signal);
    if (recording === null) return tidy(services, id);
    log.info({ event: "recording.started", recordingId: id });
    const segments = await transcript(services, recording, signal);
    // A command may have ended it in the last moment.
    if (recordings.complete(id, segments)) {
      ended("recording.completed", { segments: segments.length, model: recordings.get(id)?.speechModel });
      count("completed");
    } else {
      ended("recording.cancelled", {});
    }
  } catch (error) {
    const left = recordings.get(id);
    if (signal.aborted && left !== null && isOpen(left.status)) {
      ended("recording.parked", {});
      return;
    }
    const failure = failureOf(error);
    const failed = recordings.fail(id, failure, () => {
      if (failure.reason === "internal") usage.refundAudio(id);
    });
    const detail = messageOf(error);
    // A command that ends a recording has written its failure already.
    if (failed) {
      ended("recording.failed", { ...failure, detail });
      count("failed", failure.reason, failure.reason === "internal" ? failure.cause : "");
    } else {
      ended("recording.cancelled", {});
    }
  }
  tidy(services, id);
  services.models.recordingEnded();
}

/** Removes the files of a recording that has ended. Who deletes one removes its files, but not what is written after that. */
function tidy({ recordings, dataDirectory, dropsAudio }: PipelineServices, id: string): void {
  dataDirectory.removeWork(id);
  if (dropsAudio() || recordings.get(id) === null) dataDirectory.removeRecording(id);
}

/**
 * What comes before processing, while the recording is still `queued`: a link is fetched, the account's allowance is asked.
 * @returns null when the recording was ended meanwhile
 */
async function begin(services: PipelineServices, id: string, signal: AbortSignal): Promise<Recording | null> {
  const { recordings, dataDirectory, usage, now } = services;
  const waiting = recordings.get(id);
  if (waiting === null || !isOpen(waiting.status)) return null;
  if (!usage.admit(waiting.accountId, id, services.audioAllowanceSeconds(waiting.accountId), now())) {
    throw new RecordingFailure({ reason: "quota_exceeded" }, "the account has no allowance left today");
  }
  if (waiting.sourceUrl !== null && waiting.sizeBytes === null) {
    recordings.progress(id, "fetch", null);
    const outputPath = dataDirectory.uploadPath(id);
    const sizeBytes = await fetchSource(waiting.sourceUrl, outputPath, services.fetchOptions(), signal);
    recordings.fetched(id, sizeBytes);
  }
  return recordings.claim(id);
}

async function transcript(services: PipelineServices, recording: Recording, signal: AbortSignal) {
  const { recordings, dataDirectory, engine } = services;
  const { id } = recording;
  const workDirectory = dataDirectory.workDirectory(id);
  mkdirSync(workDirectory, { recursive: true, mode: 0o700 });
  const step = (name: Exclude<Step, "fetch">): StepContext => {
    recordings.progress(id, name, name === "decode" ? null : shares[name][0]);
    return {
      recording,
      uploadPath: dataDirectory.uploadPath(id),
      workDirectory,
      checkpoints: new Checkpoints(services.store, id),
      engine,
      signal,
      log: services.log,
      progress: (fraction) => recordings.progress(id, name, percentOf(name, fraction)),
    };
  };

  const decodingSince = services.now();
  const pcm = await decode(step("decode"), services.decodeOptions());
  const durationSeconds = pcm.sampleCount / PCM_SAMPLE_RATE_HZ;
  // One that was decoded before a restart was counted then.
  if (recording.durationSeconds === null) {
    const seconds = (services.now() - decodingSince) / 1000;
    services.metrics.recordings.decoded(durationSeconds);
    services.metrics.engine.stepDone({ step: "decode", device: "cpu", seconds, audioSeconds: durationSeconds });
  }
  recordings.describe(id, { durationSeconds });
  services.usage.chargeAudio(id, durationSeconds);

  const detecting = { ...step("detect"), pcm };
  const { chunks, activityDirectory } = await detect(detecting);
  const model = await bindModel(detecting, services);
  const speech = chunks.map((span) => ({ pcm, span }));
  const language = await chooseLanguage(detecting, speech, model);
  recordings.describe(id, { language: language.code });

  const words = await transcribe({ ...step("transcribe"), pcm }, chunks, model.path, language);
  const turns = await diarize({ ...step("diarize"), pcm }, activityDirectory);

  step("finalize");
  const segments = buildSegments(assignSpeakers(words, turns));
  if (segments.length === 0) throw new RecordingFailure({ reason: "no_speech" }, "no words were found");
  return segments;
}

function percentOf(step: keyof typeof shares, fraction: number | null): number | null {
  const [from, to] = shares[step];
  return fraction === null ? null : Math.floor(from + (to - from) * fraction);
}

function failureOf(error: unknown): Failure {
  if (error instanceof RecordingFailure) return error.failure;
  if (error instanceof EngineCrashError) return { reason: "internal", cause: "engine_crashed" };
  return { reason: "internal", cause: "unexpected" };
}
