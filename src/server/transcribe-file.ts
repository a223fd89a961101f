import { statSync, symlinkSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { type SegmentResource, toSegment } from "../api-contract/index.ts";
import type { Recording } from "../database/index.ts";
import type { Engine } from "../engine/index.ts";
import { type ExportFormat, type ExportLayout, exportTranscript, recordingDocument } from "../exports/index.ts";
import { probeRecording } from "../media/index.ts";
import { type PipelineServices, processRecording } from "../pipeline/index.ts";
import { newRecordingId } from "../recordings/index.ts";
import type { Language } from "../speech/index.ts";
import type { Hints } from "../text/index.ts";
import { Transcript } from "../transcripts/index.ts";
import { StartError } from "./start-error.ts";

/** A recording to transcribe without a server. */
export interface LocalTranscription {
  /** Absolute path of a file; bytes if it is not UTF-8. */
  readonly path: string | Buffer;
  /** The file's name, with its extension. */
  readonly name: string;
  /** The recording's name in messages. */
  readonly shown: string;
  /** ISO code; undefined to detect it. */
  readonly language: string | undefined;
  readonly hints: Hints;
  readonly signal: AbortSignal;
  readonly onProgress: (step: string, percent: number | null) => void;
}

/** The result of a local transcription. */
export interface LocalTranscript {
  readonly recording: Recording;
  /** The segments; empty unless the recording is completed. */
  readonly segments: SegmentResource[];
  /**
   * Returns the transcript in a file format.
   * @throws ExportError
   */
  export(format: ExportFormat, layout?: ExportLayout): Promise<Uint8Array>;
}

/** The services of a local pipeline. */
interface LocalPipelineParts {
  readonly services: PipelineServices;
  readonly engine: Engine;
  readonly ffmpegPath: string;
  readonly modelId: string;
  /** Languages that the model supports. */
  readonly languages: readonly Language[];
  /** The account that owns the recordings. */
  readonly accountId: string;
}

const POLL_MILLISECONDS = 200;

/**
 * Creates a recording, processes it and returns the result.
 * @throws as {@link LocalPipeline.transcribe}
 */
export async function transcribeFile(
  parts: LocalPipelineParts,
  transcription: LocalTranscription,
): Promise<LocalTranscript> {
  const { store, recordings, dataDirectory, now } = parts.services;
  const { name, shown, signal, onProgress } = transcription;
  const pinnedLanguage = languageCodeOf(parts.languages, transcription.language);
  onProgress("open", null);
  const id = newRecordingId(now());
  // A symbolic link: only the link is removed in the end, not the recording. Its name is text, which ffmpeg can be given.
  const path = dataDirectory.localAudio.pathOf(id);
  symlinkSync(transcription.path, path);
  const probed = await probeRecording(parts.ffmpegPath, path, signal);
  if (!probed.ok) throw new StartError(`${shown}: ${probed.reason}`);
  await untilReady(parts.engine, signal);
  recordings.create({
    id,
    accountId: parts.accountId,
    workspaceId: null,
    pinnedLanguage,
    ...transcription.hints,
    speechModel: parts.modelId,
    sourceUrl: null,
    sourceName: basename(name, extname(name)).toWellFormed(),
    sizeBytes: statSync(path).size,
  });
  const progressTimer = setInterval(() => {
    const { step, percent } = recordings.get(id) ?? { step: null, percent: null };
    if (step !== null) onProgress(step, percent);
  }, POLL_MILLISECONDS);
  try {
    await processRecording(parts.services, id, signal);
  } finally {
    clearInterval(progressTimer);
  }
  signal.throwIfAborted();
  const recording = recordings.get(id);
  if (recording === null) throw new Error(`recording ${id} is gone`);
  const transcript = new Transcript(store, recording);
  return {
    recording,
    segments: transcript.segments(0, Number.MAX_SAFE_INTEGER).map((segment) => toSegment(segment)),
    async export(format, layout) {
      const path = join(dataDirectory.incoming, `export-${id}`);
      using exported = await exportTranscript(format, recordingDocument(transcript, false, layout), { path });
      return await exported.content.bytes();
    },
  };
}

/**
 * Returns the code of the requested language; null if none is requested.
 * @throws {StartError} for a code that the model does not support
 */
function languageCodeOf(languages: readonly Language[], code: string | undefined): string | null {
  if (code === undefined) return null;
  const language = languages.find((candidate) => candidate.code === code.trim().toLowerCase());
  if (language !== undefined) return language.code;
  throw new StartError(
    `the model does not support the language ${code}; it supports ${languages.map((each) => each.code).join(" ")}`,
  );
}

/** Waits until the worker is ready. A worker starts in a second or two; one that fails repeatedly never starts. */
async function untilReady(engine: Engine, signal: AbortSignal): Promise<void> {
  for (let ready = false; !ready; ) {
    signal.throwIfAborted();
    const { state, trouble } = engine.status();
    if (state === "failing") throw new StartError(`the inference worker does not start: ${trouble}`);
    ready = await Promise.race([engine.ready().then(() => true), Bun.sleep(POLL_MILLISECONDS).then(() => false)]);
  }
}
