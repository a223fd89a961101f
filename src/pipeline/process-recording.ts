import { mkdirSync } from "node:fs";
import { type Engine, EngineCrashError, type Language } from "../engine/index.ts";
import type { DataDirectory, Store } from "../storage/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { Checkpoints, type Failure, type Recording, type Recordings, type Step } from "../transcriptions/index.ts";
import { assignSpeakers } from "./assign-speakers.ts";
import { buildSegments } from "./build-segments.ts";
import { type DecodeOptions, decode } from "./decode.ts";
import { detect } from "./detect.ts";
import { diarize } from "./diarize.ts";
import { chooseLanguage } from "./language.ts";
import { RecordingFailure, type StepContext } from "./step.ts";
import { transcribe } from "./transcribe.ts";

export interface PipelineServices {
  readonly store: Store;
  readonly recordings: Recordings;
  readonly dataDirectory: DataDirectory;
  readonly engine: Pick<Engine, "run">;
  readonly languages: readonly Language[];
  readonly decodeOptions: DecodeOptions;
  readonly log: Logger;
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
 * Works off one recording: decode → detect → transcribe → diarize → finalize, from its last checkpoint on. It ends as
 * `completed` or `failed`; when the signal aborts it is left as it is, for a later start.
 */
export async function processRecording(services: PipelineServices, id: string, signal: AbortSignal): Promise<void> {
  const { recordings, dataDirectory, log, now } = services;
  const recording = recordings.claim(id);
  if (recording === null) return;
  const startedAt = now();
  log.info({ event: "recording.started", recordingId: id });
  try {
    const segments = await transcript(services, recording, signal);
    recordings.complete(id, segments);
    log.info({
      event: "recording.completed",
      recordingId: id,
      milliseconds: now() - startedAt,
      segments: segments.length,
    });
  } catch (error) {
    if (signal.aborted) {
      log.info({ event: "recording.parked", recordingId: id });
      return;
    }
    const failure = failureOf(error);
    recordings.fail(id, failure);
    const detail = error instanceof Error ? error.message : String(error);
    log.warn({ event: "recording.failed", recordingId: id, ...failure, detail, milliseconds: now() - startedAt });
  }
  dataDirectory.removeWork(id);
}

async function transcript(services: PipelineServices, recording: Recording, signal: AbortSignal) {
  const { recordings, dataDirectory, engine, languages } = services;
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

  const pcm = await decode(step("decode"), services.decodeOptions);
  recordings.describe(id, { durationSeconds: pcm.sampleCount / 16_000 });

  const detecting = { ...step("detect"), pcm };
  const { chunks, activityDirectory } = await detect(detecting);
  const language = await chooseLanguage(detecting, chunks, languages);
  recordings.describe(id, { language: language.code });

  const words = await transcribe({ ...step("transcribe"), pcm }, chunks, language);
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
