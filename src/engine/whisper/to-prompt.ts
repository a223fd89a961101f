const sentenceEnd = /[.!?…。！？।؟]["'”’»)\]」』]*$/u;

/**
 * A vocabulary as the text that goes before a chunk. It ends as a sentence does: after one that doesn't, whisper goes on
 * with it and leaves its own full stops away (heard on a LibriSpeech clip with base), and hears the names less surely.
 */
export function toPrompt(vocabulary: string): string {
  return vocabulary === "" || sentenceEnd.test(vocabulary) ? vocabulary : `${vocabulary}.`;
}
