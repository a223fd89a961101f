import { Type } from "@sinclair/typebox";
import type { Checkpoints, Recordings } from "../recordings/index.ts";
import { type PackedSegment, packSegment } from "../segments/index.ts";
import { canTranslate, type Language } from "../speech/index.ts";
import {
  type Chunk,
  type EngineWord,
  sharedSeconds,
  type Turn,
  transcribedSpans,
  wordSchema,
} from "../timeline/index.ts";
import type { BoundModel } from "./bind-model.ts";
import { buildSegments } from "./build-segments.ts";
import type { SpeechPart } from "./language.ts";
import { spokenWords } from "./spoken-words.ts";
import { forEachMissingPart, type StepContext } from "./step.ts";
import type { TrackChunk, TrackContext } from "./tracks.ts";
import { readWords } from "./transcribe.ts";

/** Name of the step in checkpoints. In the API, it is a part of the step `transcribe`. */
const STEP = "translate";
const ENGLISH = "en";

const wordsSchema = Type.Object({ words: Type.Array(wordSchema) });

/** How chunks are translated. */
interface TranslationPlan {
  readonly model: Pick<BoundModel, "path" | "encoder" | "languages">;
  /** Splits a chunk into parts and returns the language of each. */
  readonly partsOf: (chunk: TrackChunk) => Promise<readonly SpeechPart[]>;
}

/**
 * Returns whether a recording is translated by a model. If its model was replaced by one that cannot translate, or it is
 * processed again with such a one, it has no translation any more.
 */
export function willTranslate(
  { recording: { id, isTranslated }, log }: Pick<StepContext, "recording" | "log">,
  model: Pick<BoundModel, "id" | "path">,
  recordings: Pick<Recordings, "describe">,
): boolean {
  if (!isTranslated || canTranslate(model.path)) return isTranslated;
  log.warn({ event: "recording.not_translated", recordingId: id, model: model.id });
  recordings.describe(id, { isTranslated: false });
  return false;
}

/**
 * Translates every chunk to English and stores the words. English speech is not translated: its words are those of the
 * transcript. A chunk whose transcript has no words has no translation either, because Whisper invents text for noise.
 */
export async function translate(
  context: TrackContext,
  chunks: readonly Chunk[],
  { model, partsOf }: TranslationPlan,
): Promise<object> {
  const { area, signal, checkpoints, engine } = context;
  if (chunks.length === 0) return {};
  const how = {
    ...{ area, model: model.path },
    ...(model.encoder === null ? {} : { encoder: model.encoder }),
  };
  const translatePart = async ({ chunk, language }: SpeechPart) => {
    const { words } = await engine.run("translate", { ...how, chunk, language: language.modelCode }, signal);
    return words;
  };
  await forEachMissingPart(context, STEP, chunks.length, async (part) => {
    const chunk = chunks[part] as Chunk;
    const { words: spoken, languages } = readWords(checkpoints, part);
    const translated: EngineWord[] = [];
    if (spoken.length > 0 && isEnglish(languages)) translated.push(...spoken);
    else if (spoken.length > 0) {
      for (const speech of await partsOf({ area, chunk })) {
        const foreign = foreignPart(speech, languages, model.languages);
        translated.push(...(foreign === null ? wordsOf(speech, spoken) : await translatePart(foreign)));
      }
    }
    checkpoints.write(STEP, part, wordsSchema, { words: translated });
  });
  return {};
}

/** Seconds of a chunk's words by the model's language codes; earlier versions did not store them. */
type Languages = Readonly<Record<string, number>> | undefined;

/** Returns whether all words of a chunk are English. */
function isEnglish(languages: Languages): boolean {
  return languages !== undefined && Object.keys(languages).every((code) => code === ENGLISH);
}

/**
 * Returns a part with the language that is translated; null for an English part. If a part that was taken for English has
 * words of another language, that one is translated: Whisper copies what is English next to it.
 */
function foreignPart(part: SpeechPart, languages: Languages, known: readonly Language[]): SpeechPart | null {
  if (part.language.modelCode !== ENGLISH) return part;
  const [most] = Object.entries(languages ?? {})
    .filter(([code]) => code !== ENGLISH)
    .sort(([, one], [, other]) => other - one);
  const language = known.find(({ modelCode }) => modelCode === most?.[0]);
  return language === undefined ? null : { ...part, language };
}

/** Returns the words of a part of a chunk. */
function wordsOf({ chunk }: SpeechPart, words: readonly EngineWord[]): EngineWord[] {
  const spans = transcribedSpans(chunk);
  return words.filter((word) => spans.some((span) => sharedSeconds(span, word) > 0));
}

function readTranslation(checkpoints: Checkpoints, part: number) {
  const chunk = checkpoints.read(STEP, part, wordsSchema);
  if (chunk === null) throw new Error(`the translation of chunk ${part} is not in its checkpoint`);
  return chunk;
}

/**
 * Builds the segments of a track's translation, in order. Its words belong to the speakers of the transcript's segments
 * at their times.
 * @param transcript the segments of the track's transcript
 */
export async function translatedSegments(
  context: TrackContext,
  chunks: readonly Chunk[],
  transcript: readonly PackedSegment[],
): Promise<PackedSegment[]> {
  const turns: Turn[] = transcript.map(({ startSeconds, endSeconds, speaker }) => ({
    startSeconds,
    endSeconds,
    speaker,
  }));
  const segments: PackedSegment[] = [];
  if (turns.length === 0) return segments;
  for await (const words of spokenWords(context, chunks, turns, turns, readTranslation)) {
    segments.push(...buildSegments(words, segments.at(-1)?.startSeconds ?? 0).map(packSegment));
  }
  return segments;
}

/**
 * Merges the translations of all tracks in order of their starts.
 * @param numbers the new numbers of each track's speakers in the transcript
 */
export function mergeTranslations(
  tracks: readonly (readonly PackedSegment[])[],
  numbers: readonly ReadonlyMap<number, number>[],
): PackedSegment[] {
  return tracks
    .flatMap((own, track) =>
      own.map((segment) => ({ ...segment, speaker: numbers[track]?.get(segment.speaker) ?? segment.speaker })),
    )
    .sort((a, b) => a.startSeconds - b.startSeconds)
    .map((segment, index) => ({ ...segment, index }));
}
