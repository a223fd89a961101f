import { Type } from "@sinclair/typebox";
import { type Language, secondsOf } from "../engine/index.ts";
import type { BoundModel } from "./bind-model.ts";
import type { Speech } from "./speech.ts";
import type { StepContext } from "./step.ts";
import { type Probabilities, sureProbability, voteLanguage } from "./vote-language.ts";

const chosenSchema = Type.Object({ code: Type.String(), isMixed: Type.Boolean() });

/** A chunk of at least this length in which another language is sure is in that one. */
const sureSeconds = 2.5;
/** Whisper takes these for each other, in one voice even; a chunk is not set apart for that. */
const alike = ["no nn da", "hr bs sr", "id ms", "gl pt", "cs sk", "be ru", "hi ur", "zh yue", "nl af"].map((codes) =>
  codes.split(" "),
);

export interface ChosenLanguage {
  /** The pinned one, or the one that most of the speech is in. */
  readonly language: Language;
  /** Other languages are spoken, too. */
  readonly isMixed: boolean;
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
  if (sole !== undefined) return { language: sole, isMixed: false };
  const stored = checkpoints.read("language", 0, chosenSchema);
  const known = languages.find(({ code }) => code === stored?.code);
  if (stored !== null && known !== undefined) return { language: known, isMixed: stored.isMixed };

  const { winner, heard } = await voteLanguage(speech, (chunk) => ask(context, chunk, model));
  const language = languages.find(({ whisperCode }) => whisperCode === winner);
  if (language === undefined) throw new Error(`the model named a language that it does not list: ${winner}`);
  const isMixed = heard.some((chunk) => otherLanguage(chunk.speech, chunk.probabilities, language) !== null);
  checkpoints.write("language", 0, chosenSchema, { code: language.code, isMixed });
  return { language, isMixed };
}

/**
 * The language to transcribe a chunk in. Told to write a language that is not spoken, whisper translates or leaves out; so
 * in a recording of several each chunk is asked, and one that surely is in another is transcribed in that.
 */
export async function languageOfChunk(
  context: StepContext,
  speech: Speech,
  { language, isMixed }: ChosenLanguage,
  model: BoundModel,
): Promise<Language> {
  if (!isMixed) return language;
  const code = otherLanguage(speech, await ask(context, speech, model), language);
  return model.languages.find(({ whisperCode }) => whisperCode === code) ?? language;
}

async function ask(
  { engine, signal }: StepContext,
  { pcm, span }: Speech,
  { path }: BoundModel,
): Promise<Probabilities> {
  const { probabilities } = await engine.run("detectLanguage", { pcm, span, model: path }, signal);
  return probabilities;
}

/** Whisper's code of the language that a chunk surely is in; null where it may be in the recording's own. */
function otherLanguage(speech: Speech, probabilities: Probabilities, { whisperCode }: Language): string | null {
  if (secondsOf(speech.span) < sureSeconds) return null;
  const sure = Object.entries(probabilities).find(([, probability]) => probability >= sureProbability);
  if (sure === undefined) return null;
  const [code] = sure;
  const isAlike = alike.some((codes) => codes.includes(code) && codes.includes(whisperCode));
  return code === whisperCode || isAlike ? null : code;
}
