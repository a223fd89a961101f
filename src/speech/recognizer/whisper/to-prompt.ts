import { sentenceMark } from "../../../text/index.ts";

/**
 * A vocabulary as the text that goes before a chunk. It ends as a sentence does: after one that doesn't, whisper goes on
 * with it and leaves its own full stops away (heard on a LibriSpeech clip with base), and hears the names less surely.
 */
export function toPrompt(vocabulary: string): string {
  return vocabulary === "" || sentenceMark(vocabulary) !== undefined ? vocabulary : `${vocabulary}.`;
}
