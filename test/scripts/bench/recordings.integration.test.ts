import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { available, corpusPath, ffmpegPath } from "../../../harness/checkout.ts";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { makeRecording } from "../../../tools/bench/recordings.ts";

setDefaultTimeout(60_000);

const audio = corpusPath("");
const ready = available("the recordings of scripts/bench", corpusPath("manifest.json"), ffmpegPath);

describe.if(ready)("the recordings of scripts/bench", () => {
  test.each([
    ["meetings", 420, "9 excerpts of AMI meetings in a row, repeated up to 14", false],
    ["dialogues", 392, "the first 5 dialogues built from read sentences", true],
  ] as const)("%s are %p s of the corpus", async (name, seconds, contents, hasText) => {
    using directory = temporaryDirectory();
    const made = await makeRecording(name, audio, directory.path);
    expect([made.name, made.contents, Math.round(made.seconds)]).toEqual([name, contents, seconds]);
    expect(made.text !== null).toBe(hasText);
    // FLAC keeps the number of samples in the last 36 bits before its MD5 sum.
    const header = new DataView(await Bun.file(made.file).slice(0, 42).arrayBuffer());
    expect(Number(header.getBigUint64(18) & 0xfffffffffn) / 16_000).toBeCloseTo(made.seconds, 1);
  });
});
