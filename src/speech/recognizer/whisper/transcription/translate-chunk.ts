import type { EngineWord } from "../../../../timeline/index.ts";
import type { TranslationOptions } from "../../recognizer.ts";
import { toPrompt } from "../prompt.ts";
import type { TranscribeOptions, WhisperState } from "../types.ts";
import { confidence, isSpoken, toSentences, type Utterance } from "./hallucinations.ts";
import { countRepeated, withoutImpossibleCopies } from "./repetitions.ts";

/** Options of the first pass, as for a transcript. */
const FIRST_PASS = { beamSize: 5, withoutTimestamps: true, suppressNonSpeech: true, temperatureIncrement: 0 } as const;
/** Options of the second pass. Timestamp tokens lead whisper out of loops. */
const SECOND_PASS = { ...FIRST_PASS, withoutTimestamps: false } as const;

/** One translation of a chunk and the measures of its defects. */
interface Attempt {
  readonly utterances: readonly Utterance[];
  readonly repeatedWords: number;
  readonly confidence: number;
}

/**
 * Translates a chunk of 16 kHz mono speech to English. A translation that repeats itself is made again in another way.
 * The other checks of a transcript do not apply: the words of a translation are less probable and their order differs
 * from the speech, so that neither hallucinated nor missing words are recognized by probabilities and times. Only chunks
 * whose transcript has words are translated. @throws {Error} when it was aborted
 */
export async function translateChunk(
  state: Pick<WhisperState, "transcribe">,
  samples: Float32Array,
  { language, threads, vocabulary, signal }: TranslationOptions,
): Promise<readonly EngineWord[]> {
  const attempt = async (pass: Partial<TranscribeOptions>): Promise<Attempt> => {
    signal.throwIfAborted();
    const initialPrompt = toPrompt(vocabulary);
    const { aborted, segments } = await state.transcribe(samples, {
      language,
      threads,
      initialPrompt,
      translate: true,
      ...pass,
    });
    if (aborted) throw new Error("the translation was aborted");
    const words = segments.flatMap((segment) => segment.words);
    return { utterances: segments, repeatedWords: countRepeated(words), confidence: confidence(words) };
  };
  const first = await attempt(FIRST_PASS);
  const best = first.repeatedWords === 0 ? first : better(first, await attempt(SECOND_PASS));
  const sentences = best.utterances.flatMap(toSentences).map(({ words }) => words);
  return withoutImpossibleCopies(sentences.filter(isSpoken).flat());
}

function better(one: Attempt, other: Attempt): Attempt {
  if (one.repeatedWords !== other.repeatedWords) return one.repeatedWords < other.repeatedWords ? one : other;
  return one.confidence >= other.confidence ? one : other;
}
