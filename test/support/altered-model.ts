import { closeSync, constants, copyFileSync, openSync, readSync, writeSync } from "node:fs";

/**
 * Copies a whisper model (ggml) and changes one token of its vocabulary to capitals, so that transcripts show which
 * model made them. Size and accuracy stay the same. The token is the word with a space before it.
 */
export function copyAlteredModel(from: string, to: string, word: string): void {
  copyFileSync(from, to, constants.COPYFILE_FICLONE);
  const file = openSync(to, "r+");
  try {
    // The vocabulary is at the beginning. The length of each token precedes it.
    const start = Buffer.alloc(2_000_000);
    readSync(file, start, 0, start.length, 0);
    const token = Buffer.from(`    ${` ${word}`}`);
    token.writeUInt32LE(word.length + 1, 0);
    const at = start.indexOf(token);
    if (at < 0) throw new Error(`the model has no token for ${word}`);
    writeSync(file, Buffer.from(` ${word.toUpperCase()}`), 0, word.length + 1, at + 4);
  } finally {
    closeSync(file);
  }
}
