import { Type } from "@sinclair/typebox";
import type { Language, PcmFile, Span } from "../engine/index.ts";
import type { BoundModel } from "./bind-model.ts";
import type { StepContext } from "./step.ts";

const chosenSchema = Type.Object({ code: Type.String() });

/** Chunks that are asked whatever they say, and those that are asked at most: one costs a run of the encoder. */
const fewVotes = 5;
const manyVotes = 25;
/** A language that has this many times as much as the next one is not asked about any further. */
const clearLead = 4;

/** A stretch of a track in which somebody speaks. */
export interface Speech {
  readonly pcm: PcmFile;
  readonly span: Span;
}

/**
 * The language of a recording: the pinned one, or the one that most of its speech is in. Chunks from all over it are asked,
 * so that neither a jingle nor a greeting at its beginning decides; more of them where the first ones don't agree.
 * @param speech the what is heard of all tracks, in any order
 */
export async function chooseLanguage(
  context: StepContext,
  speech: readonly Speech[],
  { path, languages }: BoundModel,
): Promise<Language> {
  const { checkpoints, recording } = context;
  const code = recording.pinnedLanguage ?? checkpoints.read("language", 0, chosenSchema)?.code;
  const known = languages.find((language) => language.code === code);
  if (known !== undefined) return known;
  const [only, second] = languages;
  const chosen = only !== undefined && second === undefined ? only : await vote(context, speech, path, languages);
  checkpoints.write("language", 0, chosenSchema, { code: chosen.code });
  return chosen;
}

/** Every chunk counts for each language by how probable it is, times its seconds. */
async function vote(
  { engine, signal }: StepContext,
  speech: readonly Speech[],
  model: string,
  languages: readonly Language[],
): Promise<Language> {
  const scores = new Map<string, number>();
  const inOrder = speech.toSorted((a, b) => a.span.startSeconds - b.span.startSeconds);
  let left = inOrder.reduce((sum, { span }) => sum + secondsOf(span), 0);
  for (const [asked, index] of spreadOrder(inOrder.length).slice(0, manyVotes).entries()) {
    if (isDecided(scores, left, asked)) break;
    const { pcm, span } = inOrder[index] as Speech;
    const { probabilities } = await engine.run("detectLanguage", { pcm, span, model }, signal);
    for (const [code, probability] of Object.entries(probabilities)) {
      scores.set(code, (scores.get(code) ?? 0) + probability * secondsOf(span));
    }
    left -= secondsOf(span);
  }
  const [winner] = ranked(scores);
  const language = languages.find(({ whisperCode }) => whisperCode === winner?.[0]);
  if (language === undefined) throw new Error(`the model named a language that it does not list: ${winner?.[0]}`);
  return language;
}

/** Whether nothing that was not asked yet could change the outcome, or is likely to. @param left seconds that were not asked */
function isDecided(scores: ReadonlyMap<string, number>, left: number, asked: number): boolean {
  const [[, first] = ["", 0], [, second] = ["", 0]] = ranked(scores);
  return first - second > left || (asked >= fewVotes && first >= clearLead * second);
}

function ranked(scores: ReadonlyMap<string, number>): [string, number][] {
  return [...scores].sort(([, a], [, b]) => b - a);
}

function secondsOf({ startSeconds, endSeconds }: Span): number {
  return endSeconds - startSeconds;
}

/**
 * The numbers below `count`, so that those at the beginning of the list lie evenly over all of them: steps of the golden
 * ratio, which also keep clear of what comes again and again, as languages in turns do.
 */
export function spreadOrder(count: number): number[] {
  const order = new Set<number>();
  for (let step = 0; order.size < count; step++) order.add(Math.floor(((0.5 + step * goldenRatio) % 1) * count));
  return [...order];
}

const goldenRatio = (Math.sqrt(5) - 1) / 2;
