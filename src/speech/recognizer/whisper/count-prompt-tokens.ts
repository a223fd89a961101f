import { ModelFileError, readTokens } from "./model-file/index.ts";
import { toPrompt } from "./to-prompt.ts";

/** whisper.cpp hears the last half of the text context (448 tokens) less the token that opens it; what is before is cut off. */
export const maxPromptTokens = 223;

/** How whisper.cpp parts a text before it looks up tokens, over the bytes of its UTF-8. */
const words =
  /'s|'t|'re|'ve|'m|'ll|'d| ?[A-Za-z]+| ?[0-9]+| ?[^ \t\n\v\f\rA-Za-z0-9]+|[ \t\n\v\f\r]+(?![^ \t\n\v\f\r])|[ \t\n\v\f\r]+/g;

/**
 * How many tokens a vocabulary is as a prompt to a whisper model (ggml), counted as whisper.cpp does: the longest known token first.
 * @throws an Error that says what to do where the file is no such model
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
      `the vocabulary of ${modelPath} can't be read: ${error.message}; check it with "transcribe models verify"`,
      { cause: error },
    );
  }
}
