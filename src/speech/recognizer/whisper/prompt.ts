import { sentenceMark } from "../../../text/index.ts";
import { ModelFileError } from "../ggml-file/index.ts";
import { readTokens } from "./model-file/index.ts";

/** Maximum tokens of a prompt: half of whisper.cpp's text context (448) less the opening token. */
export const maxPromptTokens = 223;

/** Pattern by which whisper.cpp splits a text before it looks up tokens, applied to the bytes of its UTF-8 form. */
const words =
  /'s|'t|'re|'ve|'m|'ll|'d| ?[A-Za-z]+| ?[0-9]+| ?[^ \t\n\v\f\rA-Za-z0-9]+|[ \t\n\v\f\r]+(?![^ \t\n\v\f\r])|[ \t\n\v\f\r]+/g;

/**
 * Converts a vocabulary to the text that precedes a chunk. It ends like a sentence: otherwise whisper continues it,
 * leaves out its own full stops, and recognizes the names less reliably.
 */
export function toPrompt(vocabulary: string): string {
  return vocabulary === "" || sentenceMark(vocabulary) !== undefined ? vocabulary : `${vocabulary}.`;
}

/**
 * Counts the tokens of a vocabulary as a prompt, as whisper.cpp does: the longest known token first.
 * @throws {Error} with a hint for the user when the file is not such a model
 */
export function countPromptTokens(modelPath: string, vocabulary: string): number {
  const known = tokensOf(modelPath);
  const longest = Math.max(...Array.from(known, (token) => token.length));
  let count = 0;
  for (const word of Buffer.from(toPrompt(vocabulary), "utf8").toString("latin1").match(words) ?? []) {
    for (let at = 0; at < word.length; count++) {
      let end = Math.min(word.length, at + longest);
      while (end > at + 1 && !known.has(word.slice(at, end))) end--;
      at = end;
    }
  }
  return count;
}

function tokensOf(modelPath: string): Set<string> {
  try {
    return readTokens(modelPath);
  } catch (error) {
    if (!(error instanceof ModelFileError) || error.message.startsWith(modelPath)) throw error;
    throw new Error(
      `the vocabulary of ${modelPath} cannot be read: ${error.message}; check it with "transcribe models verify"`,
      { cause: error },
    );
  }
}
