import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { blockPath, isWholeBlock, readBlockFile, writeBlockFile } from "../../src/timeline/block-file.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const body = Uint8Array.from({ length: 120 }, (_, index) => index);
const block = { firstWindow: 7, count: 10, recordBytes: 12, body };

describe("a block's file", () => {
  const withBlock = async (use: (path: string, directory: string) => Promise<void> | void) => {
    using directory = temporaryDirectory();
    const path = blockPath(directory.path, 3);
    await writeBlockFile(path, "tst1", block);
    await use(path, directory.path);
  };

  test("is read as it was written", async () => {
    await withBlock(async (path, directory) => {
      expect(await isWholeBlock(directory, 3)).toBe(true);
      const read = await readBlockFile(path, "tst1");
      expect({ ...read, body: [...read.body] }).toEqual({ ...block, body: [...body] });
      expect(await isWholeBlock(directory, 4)).toBe(false);
      await expect(readBlockFile(path, "tst2")).rejects.toThrow("is no tst2 block");
    });
  });

  test("of which any byte is another is not taken", async () => {
    await withBlock(async (path, directory) => {
      const whole = readFileSync(path);
      for (const at of whole.keys()) {
        const altered = Buffer.from(whole);
        altered.writeUInt8((altered.readUInt8(at) + 1) % 256, at);
        writeFileSync(path, altered);
        expect([at, await isWholeBlock(directory, 3)]).toEqual([at, false]);
        await expect(readBlockFile(path, "tst1")).rejects.toThrow(at < 4 ? "is no" : "is damaged");
      }
    });
  });

  test.each([0, 10, 23, 24, 143])("of which only %i bytes are there is not taken", async (length) => {
    await withBlock(async (path, directory) => {
      writeFileSync(path, readFileSync(path).subarray(0, length));
      expect(await isWholeBlock(directory, 3)).toBe(false);
      await expect(readBlockFile(path, "tst1")).rejects.toThrow();
    });
  });

  test("as an earlier version wrote it, without a digest, is not taken", async () => {
    await withBlock(async (path, directory) => {
      const whole = readFileSync(path);
      writeFileSync(path, Buffer.concat([whole.subarray(0, 16), whole.subarray(24)]));
      expect(await isWholeBlock(directory, 3)).toBe(false);
    });
  });
});
