import { sentenceMark } from "../../../text/index.ts";

/**
 * Converts a vocabulary to the text that precedes a chunk. The text ends like a sentence. Otherwise whisper continues
 * it, leaves out its own full stops (seen on a LibriSpeech clip with base), and recognizes the names less reliably.
 */
export function toPrompt(vocabulary: string): string {
  return vocabulary === "" || sentenceMark(vocabulary) !== undefined ? vocabulary : `${vocabulary}.`;
}
