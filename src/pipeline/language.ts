import { Type } from "@sinclair/typebox";
import type { Language, Span } from "../engine/index.ts";
import type { BoundModel } from "./bind-model.ts";
import type { DecodedContext } from "./step.ts";

const chosenSchema = Type.Object({ code: Type.String() });

/** Chunks that are asked for their language: one costs a run of the encoder, about as much as transcribing it does. */
const maxVotes = 5;

/**
 * The language of a recording: the pinned one, or the vote of chunks spread over the whole recording, so that a jingle or
 * a greeting at its beginning does not decide.
 */
export async function chooseLanguage(
  context: DecodedContext,
  chunks: readonly Span[],
  { path, languages }: BoundModel,
): Promise<Language> {
  const { checkpoints, recording } = context;
  const code = recording.pinnedLanguage ?? checkpoints.read("language", 0, chosenSchema)?.code;
  const known = languages.find((language) => language.code === code);
  if (known !== undefined) return known;
  const [only, second] = languages;
  const chosen = only !== undefined && second === undefined ? only : await vote(context, chunks, path, languages);
  checkpoints.write("language", 0, chosenSchema, { code: chosen.code });
  return chosen;
}

async function vote(
  { engine, pcm, signal }: DecodedContext,
  chunks: readonly Span[],
  model: string,
  languages: readonly Language[],
): Promise<Language> {
  const scores = new Map<string, number>();
  for (const span of spread(chunks, maxVotes)) {
    const { language, probability } = await engine.run("detectLanguage", { pcm, span, model }, signal);
    const weight = probability * (span.endSeconds - span.startSeconds);
    scores.set(language, (scores.get(language) ?? 0) + weight);
  }
  const [winner] = [...scores].sort(([, a], [, b]) => b - a);
  const language = languages.find(({ whisperCode }) => whisperCode === winner?.[0]);
  if (language === undefined) throw new Error(`the model named a language that it does not list: ${winner?.[0]}`);
  return language;
}

/** Up to `count` of the items, evenly spread, each from the middle of its share. */
export function spread<T>(items: readonly T[], count: number): T[] {
  if (items.length <= count) return [...items];
  return Array.from({ length: count }, (_, place) => items[Math.floor(((place + 0.5) * items.length) / count)] as T);
}
