import { closeSync, openSync, readSync } from "node:fs";
import { readModelHeader } from "./model-header.ts";
import { toPrompt } from "./to-prompt.ts";

/** whisper.cpp hears the last half of the text context (448 tokens) less the token that opens it; what is before is cut off. */
export const maxPromptTokens = 223;

/** Magic and eleven numbers; then the mel filters, by rows and columns. */
const headerBytes = 48;
/** Room for all of that and the tokens: those of the multilingual models end at 580 kB. */
const startBytes = 2 << 20;

/** How whisper.cpp parts a text before it looks up tokens, over the bytes of its UTF-8. */
const words =
  /'s|'t|'re|'ve|'m|'ll|'d| ?[A-Za-z]+| ?[0-9]+| ?[^ \t\n\v\f\rA-Za-z0-9]+|[ \t\n\v\f\r]+(?![^ \t\n\v\f\r])|[ \t\n\v\f\r]+/g;

/**
 * How many tokens a vocabulary is as a prompt to a whisper model (ggml), counted as whisper.cpp does: the longest known token first.
 * @throws an Error that says what to do where the file is no such model
 */
export function countPromptTokens(modelPath: string, vocabulary: string): number {
  const known = readTokens(modelPath);
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

/** The text tokens of a model, a character for each byte. */
function readTokens(modelPath: string): Set<string> {
  readModelHeader(modelPath);
  const start = readStart(modelPath);
  let at = headerBytes;
  const number = () => {
    at += 4;
    return start.readUInt32LE(at - 4);
  };
  const token = () => {
    const length = number();
    at += length;
    return start.toString("latin1", at - length, at);
  };
  try {
    const filters = number() * number();
    at += filters * Float32Array.BYTES_PER_ELEMENT;
    return new Set(Array.from({ length: number() }, token));
  } catch (error) {
    throw new Error(`the vocabulary of ${modelPath} can't be read; check it with "transcribe models verify"`, {
      cause: error,
    });
  }
}

function readStart(path: string): Buffer {
  const buffer = Buffer.alloc(startBytes);
  const file = openSync(path, "r");
  try {
    return buffer.subarray(0, readSync(file, buffer, 0, startBytes, 0));
  } finally {
    closeSync(file);
  }
}
