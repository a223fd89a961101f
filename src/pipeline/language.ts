import { Type } from "@sinclair/typebox";
import { type Language, otherLanguage, type Probabilities } from "../speech/index.ts";
import { type Chunk, heardPieces, heardSeconds, partOfChunk } from "../timeline/index.ts";
import type { BoundModel } from "./bind-model.ts";
import type { Speech } from "./speech.ts";
import type { StepContext } from "./step.ts";
import { voteLanguage } from "./vote-language.ts";

const chosenSchema = Type.Object({ code: Type.String(), isMixed: Type.Boolean() });

/** What is at least of this length, and surely in another language, is in that one. */
const sureSeconds = 2.5;

/** A part of a chunk, or all of it, and what it is transcribed in. */
export interface SpeechPart {
  readonly chunk: Chunk;
  readonly language: Language;
}

export interface ChosenLanguage {
  /** The pinned one, or the one that most of the speech is in. */
  readonly language: Language;
  /** Other languages are spoken, too. */
  readonly isMixed: boolean;
  /** There is no other: it is pinned, or the only one that the model knows. */
  readonly isOnly: boolean;
}

/**
 * The language of a recording: the pinned one, or a vote of chunks from all over it, so that neither a jingle nor a greeting
 * at its beginning decides.
 * @param speech what is heard of all tracks, in any order
 */
export async function chooseLanguage(
  context: StepContext,
  speech: readonly Speech[],
  model: BoundModel,
): Promise<ChosenLanguage> {
  const { checkpoints, recording } = context;
  const { languages } = model;
  const [only, second] = languages;
  const pinned = languages.find(({ code }) => code === recording.pinnedLanguage);
  const sole = pinned ?? (second === undefined ? only : undefined);
  if (sole !== undefined) return { language: sole, isMixed: false, isOnly: true };
  const stored = checkpoints.read("language", 0, chosenSchema);
  const known = languages.find(({ code }) => code === stored?.code);
  if (stored !== null && known !== undefined) {
    return { language: known, isMixed: stored.isMixed, isOnly: false };
  }

  const { winner, heard } = await voteLanguage(
    speech,
    (chunk) => ask(context, chunk, model),
    () => context.engine.partsAtOnce,
  );
  const language = languages.find(({ whisperCode }) => whisperCode === winner);
  if (language === undefined) throw new Error(`the model named a language that it does not list: ${winner}`);
  const isMixed = heard.some(
    ({ speech: { chunk }, probabilities }) => anotherIn(chunk, probabilities, language) !== null,
  );
  checkpoints.write("language", 0, chosenSchema, { code: language.code, isMixed });
  return { language, isMixed, isOnly: false };
}

/**
 * What to transcribe a chunk in, part by part. Told to write a language that is not spoken, whisper translates or leaves
 * out; so in a recording of several each is asked, and what surely is in another is transcribed in that. A chunk is asked
 * piece by piece: of the whole whisper tells with certainty the language that it begins in.
 */
export async function partsByLanguage(
  context: StepContext,
  { pcm, chunk }: Speech,
  { language, isMixed }: ChosenLanguage,
  model: BoundModel,
): Promise<SpeechPart[]> {
  if (!isMixed) return [{ chunk, language }];
  const parts: { -readonly [K in keyof SpeechPart]: SpeechPart[K] }[] = [];
  for (const piece of heardPieces(chunk)) {
    const part = partOfChunk(chunk, piece);
    const isLong = heardSeconds(part) >= sureSeconds;
    const code = isLong ? anotherIn(part, await ask(context, { pcm, chunk: part }, model), language) : null;
    const spoken = model.languages.find(({ whisperCode }) => whisperCode === code) ?? language;
    const last = parts.at(-1);
    if (last?.language === spoken) last.chunk = partOfChunk(chunk, { ...last.chunk, endSeconds: piece.endSeconds });
    else parts.push({ chunk: part, language: spoken });
  }
  return parts;
}

/**
 * The language that most was said in, by the words: chunks that hold several languages are of no one's in a vote.
 * @param seconds how long words of each language are, by whisper's codes, chunk by chunk
 */
export function mostSpoken(
  seconds: readonly Readonly<Record<string, number>>[],
  { language, isOnly }: ChosenLanguage,
  { languages }: BoundModel,
): Language {
  if (isOnly) return language;
  const total = ({ whisperCode }: Language) => seconds.reduce((sum, chunk) => sum + (chunk[whisperCode] ?? 0), 0);
  return languages.reduce((most, one) => (total(one) > total(most) ? one : most), language);
}

async function ask(
  { engine, signal }: StepContext,
  { pcm, chunk }: Speech,
  { path, encoder }: BoundModel,
): Promise<Probabilities> {
  const how = { pcm, chunk, model: path, ...(encoder === null ? {} : { encoder }) };
  const { probabilities } = await engine.run("detectLanguage", how, signal);
  return probabilities;
}

/** Whisper's code of the language that a chunk surely is in; null where it may be in the recording's own. */
function anotherIn(chunk: Chunk, probabilities: Probabilities, { whisperCode }: Language): string | null {
  return heardSeconds(chunk) < sureSeconds ? null : otherLanguage(probabilities, whisperCode);
}
