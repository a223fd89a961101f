import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { audioDirectory } from "../../../harness/diarized-recording.ts";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { samplesOf } from "../../../tools/corpus/index.ts";
import { quickExchanges } from "../../../tools/evaluate/quick-exchanges.ts";

const isChosen = (name: string) => name === "exchange/tuned-01";

test.skipIf(!existsSync(audioDirectory))("a quick exchange has the same short turns in each run", async () => {
  using folder = temporaryDirectory();
  const [one, ...others] = await quickExchanges(audioDirectory, folder.path, isChosen);
  const [again] = await quickExchanges(audioDirectory, folder.path, isChosen);
  expect(others).toEqual([]);
  expect(again).toEqual(one as NonNullable<typeof one>);
  const turns = one?.spoken ?? [];
  expect(turns.length).toBe(20);
  for (const [index, { startSeconds, endSeconds, speaker }] of turns.entries()) {
    const seconds = endSeconds - startSeconds;
    expect(seconds).toBeGreaterThanOrEqual(0.4 - 1e-6);
    expect(seconds).toBeLessThanOrEqual(2 + 1e-6);
    const before = turns[index - 1];
    if (before === undefined) continue;
    expect(speaker).not.toBe(before.speaker);
    expect(startSeconds - before.endSeconds).toBeGreaterThanOrEqual(-0.2 - 1e-6);
    expect(startSeconds - before.endSeconds).toBeLessThanOrEqual(0.5 + 1e-6);
  }
  const samples = await samplesOf(one?.file ?? "");
  expect(samples.length / 16_000).toBeCloseTo((one?.durationSeconds ?? 0) + 0.3, 1);
});
