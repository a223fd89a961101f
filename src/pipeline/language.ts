import { Type } from "@sinclair/typebox";
import type { Recording } from "../database/index.ts";
import { type Language, otherLanguage, type Probabilities } from "../speech/index.ts";
import { type Chunk, chunkAudioSeconds, clipChunk, transcribedSpans } from "../timeline/index.ts";
import type { BoundModel } from "./bind-model.ts";
import type { StepContext } from "./step.ts";
import type { TrackChunk } from "./tracks.ts";
import { voteLanguage } from "./vote-language.ts";

const chosenSchema = Type.Object({
  code: Type.String(),
  isMixed: Type.Boolean(),
  confidence: Type.Optional(Type.Number()),
});

/** Minimum speech, in seconds, from which a span that is surely in another language is transcribed in that language. */
const SURE_SECONDS = 2.5;

/** A chunk or part of one, and the language to transcribe it in. */
export interface SpeechPart {
  readonly chunk: Chunk;
  readonly language: Language;
}

export interface ChosenLanguage {
  /** The pinned language, or the language of most of the speech. */
  readonly language: Language;
  /** Whether other languages are spoken, too. */
  readonly isMixed: boolean;
  /** Whether no other language is possible: it is pinned, or the only one that the model knows. */
  readonly isOnly: boolean;
  /** How sure the model is of the language, from 0 to 1. */
  readonly confidence: number;
}

/** Returns the only possible language of a recording: the pinned one, or that of a model for one; null without one. */
export function soleLanguage(
  { pinnedLanguage }: Pick<Recording, "pinnedLanguage">,
  { languages }: Pick<BoundModel, "languages">,
): Language | null {
  const [only, second] = languages;
  const pinned = languages.find(({ code }) => code === pinnedLanguage);
  return pinned ?? (second === undefined ? (only ?? null) : null);
}

/**
 * Returns the pinned language of a recording, or the result of a vote of chunks from all over it, so that a jingle or a
 * greeting at the beginning does not decide.
 * @param speech the speech of all tracks, in any order
 */
export async function chooseLanguage(
  context: StepContext,
  speech: readonly TrackChunk[],
  model: BoundModel,
): Promise<ChosenLanguage> {
  const { checkpoints, recording } = context;
  const { languages } = model;
  const sole = soleLanguage(recording, model);
  if (sole !== null) return { language: sole, isMixed: false, isOnly: true, confidence: 1 };
  const stored = checkpoints.read("language", 0, chosenSchema);
  const known = languages.find(({ code }) => code === stored?.code);
  if (stored !== null && known !== undefined) {
    // Checkpoints of earlier versions have no confidence.
    return { language: known, isMixed: stored.isMixed, isOnly: false, confidence: stored.confidence ?? 1 };
  }

  const detect = (chunk: TrackChunk) => detectLanguage(context, chunk, model);
  const { winner, confidence, samples } = await voteLanguage(speech, detect, context.engine);
  const language = languages.find(({ modelCode }) => modelCode === winner);
  if (language === undefined) throw new Error(`the model detected a language that it does not list: ${winner}`);
  const isMixed = samples.some(
    ({ speech: { chunk }, probabilities }) => anotherIn(chunk, probabilities, language) !== null,
  );
  checkpoints.write("language", 0, chosenSchema, { code: language.code, isMixed, confidence });
  return { language, isMixed, isOnly: false, confidence };
}

/**
 * Splits a chunk into parts and returns the language of each. A recognizer that must write a language that is not
 * spoken translates or omits speech. In a recording with several languages, each fragment is therefore checked by
 * itself: for a whole chunk, the recognizer reliably detects only the first language.
 */
export async function partsByLanguage(
  context: StepContext,
  { area, chunk }: TrackChunk,
  { language, isMixed }: ChosenLanguage,
  model: BoundModel,
): Promise<SpeechPart[]> {
  if (!isMixed) return [{ chunk, language }];
  const parts: { -readonly [K in keyof SpeechPart]: SpeechPart[K] }[] = [];
  for (const span of transcribedSpans(chunk)) {
    const part = clipChunk(chunk, span);
    const isLong = chunkAudioSeconds(part) >= SURE_SECONDS;
    const code = isLong ? anotherIn(part, await detectLanguage(context, { area, chunk: part }, model), language) : null;
    const spoken = model.languages.find(({ modelCode }) => modelCode === code) ?? language;
    const last = parts.at(-1);
    if (last?.language === spoken) last.chunk = clipChunk(chunk, { ...last.chunk, endSeconds: span.endSeconds });
    else parts.push({ chunk: part, language: spoken });
  }
  return parts;
}

/**
 * Returns the language with the longest total duration of words; chunks with several languages count for each.
 * @param seconds duration of the words of each language, by the model's codes, for each chunk
 */
export function mostSpoken(
  seconds: readonly Readonly<Record<string, number>>[],
  { language, isOnly }: ChosenLanguage,
  { languages }: BoundModel,
): Language {
  if (isOnly) return language;
  const total = ({ modelCode }: Language) => seconds.reduce((sum, chunk) => sum + (chunk[modelCode] ?? 0), 0);
  return languages.reduce((most, one) => (total(one) > total(most) ? one : most), language);
}

/** Returns the probability of each language in a chunk. */
export async function detectLanguage(
  { engine, signal }: Pick<StepContext, "engine" | "signal">,
  { area, chunk }: TrackChunk,
  model: BoundModel,
): Promise<Probabilities> {
  const { path, encoder } = model.companion ?? model;
  const how = { area, chunk, model: path, ...(encoder === null ? {} : { encoder }) };
  const { probabilities } = await engine.run("detectLanguage", how, signal);
  return probabilities;
}

/** Returns the model's code of the other language that a chunk is surely in; null if it may be in `language`. */
function anotherIn(chunk: Chunk, probabilities: Probabilities, language: Language): string | null {
  return chunkAudioSeconds(chunk) < SURE_SECONDS ? null : otherLanguage(probabilities, language.modelCode);
}
