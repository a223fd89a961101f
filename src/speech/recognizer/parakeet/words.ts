import type { EngineWord } from "../../../timeline/index.ts";
import type { NativeToken } from "./addon.ts";

/** Length of one of the encoder's frames. */
const FRAME_SECONDS = 0.08;
/** SentencePiece's sign for a space. */
const SPACE = "\u2581";
/** Pieces that are no text: those of SentencePiece, and those that name languages or tasks. */
const CONTROL = /^(?:<unk>|<s>|<\/s>|<pad>|<\|.*\|>)$/;
/** Text without anything that is spoken. */
const PUNCTUATION = /^[\s\p{P}\p{Sk}]*$/u;

interface Word {
  text: string;
  /** Probabilities of its tokens. */
  probabilities: number[];
  firstFrame: number;
  /** Frame after the last one of its spoken tokens. */
  endFrame: number;
}

/**
 * Joins the tokens of a window to words, with spelling and punctuation as the model writes them. A word lasts from the
 * frame in which its first token was recognized to the end of its last one; punctuation takes no time.
 * @param pieces texts of the tokens
 * @param totalSeconds length of the window
 */
export function toWords(tokens: readonly NativeToken[], pieces: readonly string[], totalSeconds: number): EngineWord[] {
  const words: Word[] = [];
  for (const token of tokens) {
    const piece = pieces[token.id] ?? "";
    if (CONTROL.test(piece)) continue;
    addToken(words, token, piece);
  }
  return words
    .filter(({ text }) => text.trim() !== "")
    .map((word, index, all) => timed(word, all[index + 1]?.firstFrame, totalSeconds));
}

function addToken(words: Word[], token: NativeToken, piece: string): void {
  const { frame, duration, probability } = token;
  const text = piece.replaceAll(SPACE, " ");
  const last = words.at(-1);
  // Separate punctuation belongs to the word before it, like a dash or an opening quotation mark in Whisper's words.
  const isPart = !piece.startsWith(SPACE) || (text !== " " && PUNCTUATION.test(text));
  if (last === undefined || !isPart) {
    // A window may begin inside a word that the model did not recognize.
    const spaced = text.startsWith(" ") ? text : ` ${text}`;
    words.push({ text: spaced, probabilities: [probability], firstFrame: frame, endFrame: frame + duration });
    return;
  }
  last.text += text;
  last.probabilities.push(probability);
  if (!PUNCTUATION.test(text)) last.endFrame = frame + duration;
}

function timed(
  { text, probabilities, firstFrame, endFrame }: Word,
  next: number | undefined,
  total: number,
): EngineWord {
  const last = Math.min(Math.max(endFrame, firstFrame + 1), next ?? Number.POSITIVE_INFINITY);
  const probability = probabilities.reduce((sum, one) => sum + one, 0) / probabilities.length;
  return {
    text,
    startSeconds: Math.min(firstFrame * FRAME_SECONDS, total),
    endSeconds: Math.min(last * FRAME_SECONDS, total),
    probability,
    // As the family's capabilities say.
    isCalibrated: false,
  };
}
