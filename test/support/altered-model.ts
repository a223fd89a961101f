import { closeSync, constants, copyFileSync, openSync, readSync, writeSync } from "node:fs";

/**
 * A copy of a whisper model (ggml) that spells a word in capitals: of the same size and as good, but what it wrote can be
 * told from what the other one did. The word is one token with the space before it.
 */
export function copyAlteredModel(from: string, to: string, word: string): void {
  copyFileSync(from, to, constants.COPYFILE_FICLONE);
  const file = openSync(to, "r+");
  try {
    // The vocabulary lies at the beginning, each token after its length.
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
