import type { EngineWord } from "../../../../timeline/index.ts";
import type { LiveOptions } from "../../recognizer.ts";
import { toPrompt } from "../prompt.ts";
import type { WhisperState } from "../types.ts";
import { withoutHallucinations } from "./hallucinations.ts";

/** Samples per encoder position of 20 ms. */
const SAMPLES_PER_POSITION = 320;
/** Encoder positions of 30 s. */
const MAX_POSITIONS = 1500;

/** Options of every pass, as of the first pass over a chunk. */
const PASS = { withoutTimestamps: true, suppressNonSpeech: true, temperatureIncrement: 0 } as const;

interface LivePassOptions extends LiveOptions {
  /** Whether only as much of whisper's window is computed as the samples fill: not on a GPU, where windows are joined. */
  readonly isShort: boolean;
}

/**
 * Transcribes a span of a live session in a single pass. Hallucinated sentences are
 * removed, as from a chunk. @throws {Error} when it was aborted
 */
export async function transcribeLive(
  state: Pick<WhisperState, "transcribe">,
  samples: Float32Array,
  { language, threads, vocabulary, isLast, signal, isShort }: LivePassOptions,
): Promise<readonly EngineWord[]> {
  signal.throwIfAborted();
  const audioContext = Math.min(MAX_POSITIONS, Math.ceil(samples.length / SAMPLES_PER_POSITION) + 1);
  const { aborted, segments } = await state.transcribe(samples, {
    ...PASS,
    language,
    threads,
    initialPrompt: toPrompt(vocabulary),
    beamSize: isLast ? 5 : 1,
    ...(isShort && { audioContext }),
  });
  if (aborted) throw new Error("the transcription was aborted");
  return withoutHallucinations(segments).flatMap(({ words }) => words);
}
