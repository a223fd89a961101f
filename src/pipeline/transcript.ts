import type { Recording } from "../database/index.ts";
import { PCM_SAMPLE_RATE_HZ } from "../media/index.ts";
import { Checkpoints, type Step } from "../recordings/index.ts";
import { type PackedSegment, packSegment } from "../segments/index.ts";
import { chunkAudioSeconds } from "../timeline/index.ts";
import type { SpeakerVoice } from "../voices/index.ts";
import { bindModel } from "./bind-model.ts";
import { buildSegments, mergeTracks } from "./build-segments.ts";
import { together, yieldToEventLoop } from "./concurrency.ts";
import { countAttempts } from "./count-attempts.ts";
import { decode } from "./decode.ts";
import { type Detected, DetectedBlocks, detect } from "./detect.ts";
import { type Diarized, diarize, findSpeakerVoices, findVoices } from "./diarize.ts";
import { EarlyChunks } from "./early-chunks.ts";
import { fitSegments } from "./fit-to-turns.ts";
import { chooseLanguage, mostSpoken, partsByLanguage } from "./language.ts";
import type { ChosenTrack, PipelineServices } from "./services.ts";
import { SpareLanes } from "./spare-lanes.ts";
import { SpeakerDoubt } from "./speaker-doubt.ts";
import { spokenWords } from "./spoken-words.ts";
import { quotaExceeded, RecordingFailure, type StepContext } from "./step.ts";
import { eachTrack, type Track, type TrackChunk, type TrackContext } from "./tracks.ts";
import { type TranscriptionPlan, transcribe } from "./transcribe.ts";
import { mergeTranslations, translate, translatedSegments, willTranslate } from "./translate.ts";

/** Progress at which each step begins and ends, in percent of the whole work, from the steps' durations on a CPU. */
const SHARES = {
  decode: [0, 3],
  detect: [3, 15],
  transcribe: [15, 96],
  diarize: [96, 99],
  finalize: [99, 99],
} as const;
/** The same for a recording that is translated, whose speech is read twice. */
const SHARES_WITH_TRANSLATION = {
  decode: [0, 2],
  detect: [2, 9],
  transcribe: [9, 54],
  translate: [54, 97],
  diarize: [97, 99],
  finalize: [99, 99],
} as const;

/** The transcript of a recording. */
export interface FoundTranscript {
  readonly segments: readonly PackedSegment[];
  /** The segments of its translation; none unless it is translated. */
  readonly translation: readonly PackedSegment[];
  /** The voices of its speakers; none unless its account remembers voices. */
  readonly voices: readonly SpeakerVoice[];
}

/** Returns a recording's transcript, from its last checkpoint. Each step runs track by track. */
export async function transcript(
  services: PipelineServices,
  recording: Recording,
  signal: AbortSignal,
): Promise<FoundTranscript> {
  const { recordings, metrics, now } = services;
  const { id } = recording;
  const steps = stepsOf(services, recording);
  const tracks = await decodeAndCharge(services, steps.start("decode", signal));
  const blocks = new DetectedBlocks();
  const [{ transcribed, chosen, model, isTranslated }] = await together(
    signal,
    (either) => findWords(services, steps, tracks, blocks, either),
    (either) => findVoices(steps.nextTo(either), tracks, blocks),
  );
  const languages = transcribed.flatMap((track) => track.languages);
  recordings.describe(id, { language: mostSpoken(languages, chosen, model).code });
  const diarized = await diarize(steps.start("diarize", signal), transcribed, speechSeconds);
  const finalizing = steps.start("finalize", signal);
  const since = now();
  const segmented = await eachTrack(finalizing, diarized, async (own, track) => {
    const { segments } = await segmentsOf(own, track);
    return { segments, translation: isTranslated ? await translatedSegments(own, track.chunks, segments) : [] };
  });
  const { segments, numbers } = mergeTracks(segmented.map((track) => track.segments));
  const seconds = (now() - since) / 1000;
  metrics.engine.stepDone({ step: "finalize", device: "cpu", seconds, audioSeconds: secondsOfAudio(tracks) });
  if (segments.length === 0) throw new RecordingFailure({ reason: "no_speech" }, "no words were found");
  const translations = segmented.map((track) => track.translation);
  return {
    segments,
    translation: mergeTranslations(translations, numbers),
    voices: await findSpeakerVoices(services, finalizing, diarized, numbers),
  };
}

type Steps = ReturnType<typeof stepsOf>;

/** Returns functions that create the contexts of a recording's work. */
function stepsOf(services: PipelineServices, recording: Recording) {
  const { recordings, dataDirectory, log } = services;
  const { id } = recording;
  const checkpoints = new Checkpoints(services.store, id);
  const engine = countAttempts(services.engine, {
    recordingId: id,
    checkpoints,
    log,
    countPart: (machine) => recordings.rows.countPart(id, machine),
  });
  const lanes = new SpareLanes(engine);
  const files = dataDirectory.filesOf(id);
  files.prepareWork();
  const base = { recording, files, checkpoints, log };
  return {
    /** Starts a step. The translation is shown as a part of the step `transcribe`. */
    start(name: Exclude<Step, "fetch"> | "translate", signal: AbortSignal): StepContext {
      const shares = { ...SHARES_WITH_TRANSLATION, ...(recording.isTranslated ? {} : SHARES) };
      const [from, to] = shares[name];
      const shown = name === "translate" ? "transcribe" : name;
      recordings.progress(id, shown, name === "decode" ? null : from);
      const progress = (fraction: number | null) =>
        recordings.progress(id, shown, fraction === null ? null : Math.floor(from + (to - from) * fraction));
      return { ...base, engine: lanes.urgent, signal, progress };
    },
    /** Starts work next to the steps, which uses the lanes that they leave unused and reports no progress. */
    nextTo: (signal: AbortSignal): StepContext => ({ ...base, engine: lanes.patient, signal, progress: () => {} }),
    /** Lets that work take turns with the steps from now on. */
    shareLanes: () => lanes.release(),
    /** Returns the early work on the recording's first chunks. */
    earlyChunks: () => new EarlyChunks({ ...base, engine }, lanes),
  };
}

/** Runs the steps `detect` and `transcribe`, and translates what is to be translated. @param blocks receives the blocks with known speaker activity */
async function findWords(
  services: PipelineServices,
  steps: Steps,
  tracks: readonly Track[],
  blocks: DetectedBlocks,
  signal: AbortSignal,
) {
  const { recordings, events, metrics } = services;
  await using early = steps.earlyChunks();
  const detecting = early.inStep(steps.start("detect", signal));
  const { id } = detecting.recording;
  const detected = await eachTrack(detecting, tracks, async (own, track) => {
    early.start(own, track, blocks, services.models);
    const found = await detect(own, track, blocks);
    early.planned(found.chunks);
    return found;
  });
  const speech = detected.flatMap(({ area, chunks }) => chunks.map((chunk) => ({ area, chunk })));
  if (speech.length === 0) throw new RecordingFailure({ reason: "no_speech" }, "no speech was found");
  const spokenSeconds = detected.reduce((sum, track) => sum + speechSeconds(track), 0);
  const model = await bindModel(detecting, services, spokenSeconds);
  const chosen = await chooseLanguage(detecting, speech, model);
  recordings.describe(id, { language: chosen.language.code });
  events.languageChosen({ id, language: chosen.language.code, confidence: chosen.confidence });

  early.settle(chosen.isMixed ? null : chosen.language.code);
  const transcribing = early.inStep(steps.start("transcribe", signal));
  steps.shareLanes();
  const partsOf = (chunk: TrackChunk) => partsByLanguage(transcribing, chunk, chosen, model);
  const plan: TranscriptionPlan = {
    model,
    partsOf,
    mayChangeLanguage: !chosen.isOnly,
    countRecognized(parts) {
      for (const [by, count] of parts) {
        recordings.rows.countRecognized(id, by, count);
        metrics.recordings.recognized(by, count);
      }
    },
    onTranscribed: (part, words) => events.transcribed({ id, tracks: tracks.length, part, words }),
  };
  const words = (own: TrackContext, { chunks }: Detected) => transcribe(own, chunks, plan);
  const transcribed = await eachTrack(transcribing, detected, words, speechSeconds);
  const isTranslated = willTranslate(transcribing, model, recordings);
  if (isTranslated) {
    const translating = steps.start("translate", signal);
    const work = (own: TrackContext, { chunks }: Detected) => translate(own, chunks, { model, partsOf });
    await eachTrack(translating, transcribed, work, speechSeconds);
  }
  return { transcribed, chosen, model, isTranslated };
}

/** Runs the step `decode`, and stores, counts and charges the actual length of the recording. */
async function decodeAndCharge(services: PipelineServices, context: StepContext): Promise<Track[]> {
  const { metrics, recordings, log, now } = services;
  const { recording } = context;
  const since = now();
  const options = {
    ...services.decodeOptions(),
    reservations: services.workReservations,
    audio: services.dataDirectory.audio,
  };
  // If the recording was decoded before a restart, its actual length was counted and charged then.
  const isFirst = recording.durationSeconds === null;
  const onProbed = (declaredSeconds: number | null) => {
    if (isFirst && declaredSeconds !== null) charge(services, recording, Math.min(declaredSeconds, options.maxSeconds));
  };
  const onTrack = (track: ChosenTrack) => {
    if (track.audioTracks > 1) log.info({ event: "recording.track", recordingId: recording.id, ...track });
    recordings.describe(recording.id, track);
  };
  const tracks = await decode(context, { ...options, onProbed, onTrack }).catch((error: unknown) => {
    if (isTooLong(error)) services.usage.chargeAudio(recording.id, options.maxSeconds, Number.POSITIVE_INFINITY);
    throw error;
  });
  const durationSeconds = secondsOfAudio(tracks);
  if (isFirst) {
    const seconds = (now() - since) / 1000;
    metrics.recordings.decoded(durationSeconds);
    metrics.engine.stepDone({ step: "decode", device: "cpu", seconds, audioSeconds: durationSeconds });
  }
  recordings.describe(recording.id, { durationSeconds });
  charge(services, recording, durationSeconds);
  return tracks;
}

/** Charges an account for audio. @throws {RecordingFailure} `quota_exceeded` without enough allowance */
function charge({ usage, audioAllowanceSeconds }: PipelineServices, recording: Recording, seconds: number): void {
  const { id, accountId } = recording;
  if (!usage.chargeAudio(id, seconds, audioAllowanceSeconds(accountId))) throw quotaExceeded();
}

function isTooLong(error: unknown): boolean {
  const failure = error instanceof RecordingFailure ? error.failure : null;
  return failure?.reason === "internal" && failure.cause === "recording_too_long";
}

function secondsOfAudio(tracks: readonly Track[]): number {
  return Math.max(...tracks.map(({ pcm }) => pcm.sampleCount)) / PCM_SAMPLE_RATE_HZ;
}

/** Builds a track's segments, in order. Only packed segments stay in memory: the words of 18 h would take 100 MB. */
async function segmentsOf(context: TrackContext, found: Detected & Diarized) {
  const { chunks, speechTurns, speakerTurns } = found;
  const segments: PackedSegment[] = [];
  const doubt = new SpeakerDoubt(found);
  for await (const words of spokenWords(context, chunks, speechTurns, speakerTurns)) {
    const from = segments.at(-1)?.startSeconds ?? 0;
    for (const segment of buildSegments(words, from)) {
      segments.push(packSegment({ ...segment, isSpeakerUncertain: doubt.isUncertain(segment) }));
    }
  }
  await yieldToEventLoop(context.signal);
  const fitted = fitSegments(segments, speakerTurns);
  await yieldToEventLoop(context.signal);
  return { segments: fitted };
}

function speechSeconds({ chunks }: Detected): number {
  return chunks.reduce((sum, chunk) => sum + chunkAudioSeconds(chunk), 0);
}
