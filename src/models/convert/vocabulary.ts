import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { ModelError } from "../model-error.ts";

const END_OF_TEXT = "<|endoftext|>";
/** Maximum size of a vocabulary file; real files have 0.5 to 1.3 MB. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;

/** A model's tokens. */
export interface Vocabulary {
  /** Number of all tokens, including special tokens. */
  readonly size: number;
  /** Bytes of the text tokens by token number. Text tokens precede `<|endoftext|>`; only special tokens follow it. */
  readonly textTokens: readonly Uint8Array[];
}

/**
 * Reads `vocabulary.json` (a list) or `vocabulary.txt` (one token per line) of a CTranslate2 directory. A token's
 * number is its index in the file.
 * @throws {ModelError} when the directory has no vocabulary, or the vocabulary is not that of a Whisper model
 */
export function readVocabulary(directory: string): Vocabulary {
  const tokens = readTokens(directory);
  const end = tokens.indexOf(END_OF_TEXT);
  if (end < 0) throw new ModelError(`the vocabulary has no ${END_OF_TEXT}: this is not a Whisper model`);
  return { size: tokens.length, textTokens: tokens.slice(0, end).map(tokenBytes) };
}

function readTokens(directory: string): string[] {
  const json = join(directory, "vocabulary.json");
  if (existsSync(json)) {
    const list = parseJson(readLimited(json));
    if (!Value.Check(Type.Array(Type.String()), list)) throw new ModelError("vocabulary.json is not a list of strings");
    return list;
  }
  const text = join(directory, "vocabulary.txt");
  if (!existsSync(text)) throw new ModelError(`${directory} has neither vocabulary.json nor vocabulary.txt`);
  const lines = readLimited(text).split("\n");
  // The last line ends with a line feed, too. Any other empty line is a token: Whisper's token 50256 is empty.
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function readLimited(path: string): string {
  const found = statSync(path);
  if (!found.isFile()) throw new ModelError(`${path} is not a regular file`);
  const { size } = found;
  if (size > MAX_FILE_BYTES) throw new ModelError(`${path} has ${size} bytes, too many for a vocabulary`);
  return readFileSync(path, "utf8");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ModelError("vocabulary.json is not JSON");
  }
}

/**
 * Mapping of the characters of byte-level BPE to bytes. Byte-level BPE writes bytes as printable characters: bytes that
 * are printable in Latin-1 as themselves, the other 68 in order from U+0100 on (Radford et al., GPT-2).
 */
const BYTE_OF_CHARACTER: ReadonlyMap<string, number> = (() => {
  const printable = (byte: number) =>
    (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || (byte >= 0xae && byte <= 0xff);
  const map = new Map<string, number>();
  let next = 0x100;
  for (let byte = 0; byte < 0x100; byte++) map.set(String.fromCharCode(printable(byte) ? byte : next++), byte);
  return map;
})();

function tokenBytes(token: string, number: number): Uint8Array {
  const bytes = new Uint8Array(token.length);
  for (let index = 0; index < token.length; index++) {
    const byte = BYTE_OF_CHARACTER.get(token.charAt(index));
    if (byte === undefined) {
      throw new ModelError(`token ${number} of the vocabulary is not in byte-level BPE: ${JSON.stringify(token)}`);
    }
    bytes[index] = byte;
  }
  return bytes;
}
