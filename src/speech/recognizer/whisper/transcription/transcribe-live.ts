import { type EngineWord, SAMPLE_RATE } from "../../../../timeline/index.ts";
import type { LiveOptions } from "../../recognizer.ts";
import { toPrompt } from "../prompt.ts";
import type { WhisperState } from "../types.ts";
import { withoutHallucinations } from "./hallucinations.ts";
import { withoutHurriedCopies } from "./repetitions.ts";

/** Samples per encoder position of 20 ms. */
const SAMPLES_PER_POSITION = 320;
/** Encoder positions of 30 s. */
const MAX_POSITIONS = 1500;
/**
 * Positions of silence after the samples, without which whisper often repeats itself or recognizes other words: it was
 * trained with windows of 30 s. On eight recordings of 257 s (Whisper base), 2 s, 5 s and 10 s of silence made 19.4, 18.3 and
 * 16.8 % word errors. Its own encoder computes them like speech, so there are fewer; the ONNX form hardly computes them.
 */
const PADDING_POSITIONS = { ownEncoder: 100, onnx: 500 };
/** Maximum tokens of a pass: a base, plus those of each second of the fastest speech. */
const MAX_TOKENS = { base: 20, perSecond: 15 };

/** Options of every pass, as of the first pass over a chunk. */
const PASS = { beamSize: 5, withoutTimestamps: true, suppressNonSpeech: true, temperatureIncrement: 0 } as const;

interface LivePassOptions extends LiveOptions {
  /** Whether only as much of whisper's window is computed as the samples fill: not on a GPU, where windows are joined. */
  readonly isShort: boolean;
  /** Whether the ONNX form of the encoder is used. */
  readonly hasOnnxEncoder: boolean;
}

/**
 * Transcribes a span of a live session in a single pass. Hallucinated sentences are
 * removed, as from a chunk. @throws {Error} when it was aborted
 */
export async function transcribeLive(
  state: Pick<WhisperState, "transcribe">,
  samples: Float32Array,
  { language, threads, vocabulary, known, signal, isShort, hasOnnxEncoder }: LivePassOptions,
): Promise<readonly EngineWord[]> {
  signal.throwIfAborted();
  const padding = hasOnnxEncoder ? PADDING_POSITIONS.onnx : PADDING_POSITIONS.ownEncoder;
  const positions = Math.ceil(samples.length / SAMPLES_PER_POSITION) + padding;
  const newSeconds = samples.length / SAMPLE_RATE - (known.at(-1)?.endSeconds ?? 0);
  const { aborted, segments } = await state.transcribe(samples, {
    ...PASS,
    language,
    threads,
    initialPrompt: toPrompt(vocabulary),
    prefix: known.map(({ text }) => text).join(""),
    maxTokens: MAX_TOKENS.base + Math.ceil(MAX_TOKENS.perSecond * newSeconds),
    ...(isShort && { audioContext: Math.min(MAX_POSITIONS, positions) }),
  });
  if (aborted) throw new Error("the transcription was aborted");
  const words = withoutHallucinations(segments).flatMap((segment) => segment.words);
  return withoutHurriedCopies(known, words);
}
