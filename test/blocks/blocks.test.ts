import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { blockPath, hasBlock, readBlock, writeBlock } from "../../src/blocks/blocks.ts";
import type { WorkArea } from "../../src/timeline/index.ts";

const body = Uint8Array.from({ length: 120 }, (_, index) => index);
const block = { firstWindow: 7, count: 10, recordBytes: 12, body };

describe("a block's file", () => {
  const withBlock = async (use: (path: string, area: WorkArea) => Promise<void>) => {
    using directory = temporaryDirectory();
    const area = { directory: directory.path, pcm: { path: "unused", sampleCount: 0 } };
    await writeBlock(area, "activity", 3, "tst1", block);
    await use(blockPath(area, "activity", 3), area);
  };

  test("is read as it was written, by its mark alone", async () => {
    await withBlock(async (_path, area) => {
      expect(await hasBlock(area, "activity", 3)).toBe(true);
      const read = await readBlock(area, "activity", 3, "tst1");
      expect({ ...read, body: [...read.body] }).toEqual({ ...block, body: [...body] });
      expect(await hasBlock(area, "activity", 4)).toBe(false);
      await expect(readBlock(area, "activity", 3, "tst2")).rejects.toThrow("is no tst2 block");
    });
  });

  test("is refused when any of its bytes was changed", async () => {
    await withBlock(async (path, area) => {
      const whole = readFileSync(path);
      for (const at of whole.keys()) {
        const altered = Buffer.from(whole);
        altered.writeUInt8((altered.readUInt8(at) + 1) % 256, at);
        writeFileSync(path, altered);
        expect([at, await hasBlock(area, "activity", 3)]).toEqual([at, false]);
        await expect(readBlock(area, "activity", 3, "tst1")).rejects.toThrow(at < 4 ? "is no" : "is damaged");
      }
    });
  });

  test.each([0, 10, 23, 24, 143])("is refused when only %i of its bytes are there", async (length) => {
    await withBlock(async (path, area) => {
      writeFileSync(path, readFileSync(path).subarray(0, length));
      expect(await hasBlock(area, "activity", 3)).toBe(false);
      await expect(readBlock(area, "activity", 3, "tst1")).rejects.toThrow();
    });
  });

  test("is refused as an earlier version wrote it, without a digest", async () => {
    await withBlock(async (path, area) => {
      const whole = readFileSync(path);
      writeFileSync(path, Buffer.concat([whole.subarray(0, 16), whole.subarray(24)]));
      expect(await hasBlock(area, "activity", 3)).toBe(false);
    });
  });
});
