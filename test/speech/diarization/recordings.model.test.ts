import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { addErrors, type DiarizationErrors, diarizationErrors, errorRates } from "../../../harness/der.ts";
import { audioDirectory, decode, diarize, openModels } from "../../../harness/diarized-recording.ts";
import { parseRttm } from "../../../harness/rttm.ts";
import type { DiarizationModels } from "../../../src/speech/diarization/index.ts";
import { SAMPLE_RATE, type Turn } from "../../../src/timeline/index.ts";

// Inference on a machine that is busy with other tests.
setDefaultTimeout(60_000);

const samples = resolve(import.meta.dir, "../../../build/samples");
let models: DiarizationModels;
let directory: string;
beforeAll(async () => {
  models = await openModels();
  directory = await mkdtemp(join(tmpdir(), "recordings-"));
});
afterAll(async () => {
  await models.dispose();
  await rm(directory, { recursive: true });
});

async function diarizeFile(path: string) {
  const pcm = await decode(path, join(directory, "pcm"));
  const result = await diarize(models, pcm);
  return { ...result, seconds: pcm.sampleCount / SAMPLE_RATE };
}

const speakers = (turns: readonly Turn[]) => new Set(turns.map((turn) => turn.speaker)).size;

async function errorsAgainst(rttm: string, turns: readonly Turn[]) {
  const reference = parseRttm(await Bun.file(rttm).text());
  return diarizationErrors(
    reference,
    turns.map((turn) => ({ ...turn, speaker: String(turn.speaker) })),
  );
}

describe("the sample", () => {
  test("two similar voices on the telephone are two, and change where they do", async () => {
    const { turns } = await diarizeFile(join(samples, "sample.wav"));
    expect(speakers(turns)).toBe(2);
    const rates = errorRates(await errorsAgainst(join(samples, "sample.rttm"), turns));
    expect(rates.errorRate).toBeLessThan(0.1);
    expect(rates.confusion).toBeLessThan(0.03);
  });

  test("a second run gives the same result", async () => {
    const path = join(samples, "sample.wav");
    const { milliseconds: _, ...first } = await diarizeFile(path);
    const { milliseconds: __, ...second } = await diarizeFile(path);
    expect(second).toEqual(first);
  });

  test("one speaker is found once, with all speech in one chunk", async () => {
    const { turns, chunks } = await diarizeFile(join(samples, "jfk.mp3"));
    expect(speakers(turns)).toBe(1);
    expect(chunks.length).toBe(1);
    expect(chunks[0]?.startSeconds).toBeLessThan(0.35);
    expect(chunks[0]?.endSeconds).toBeGreaterThan(10.3);
  });
});

const hasAudio = existsSync(audioDirectory);
if (!hasAudio) console.warn("SKIPPED: diarization of the audio corpus, which is not here");

describe.skipIf(!hasAudio)("the audio corpus", () => {
  test.each(["nospeech-silence-10s.wav", "nospeech-pink-noise-20s.flac", "nospeech-music-20s.flac"])(
    "%s has no speech and no speakers",
    async (name) => {
      const { regions, chunks, turns } = await diarizeFile(join(audioDirectory, "formats", name));
      expect({ regions, chunks, turns }).toEqual({ regions: [], chunks: [], turns: [] });
    },
  );

  test.each(["hls-seg0.ts", "hls-seg1.ts", "hls-seg2.ts"])("%s, a few seconds of speech, is kept", async (name) => {
    const { chunks, turns } = await diarizeFile(join(audioDirectory, "formats", name));
    expect(chunks.length).toBeGreaterThan(0);
    expect(speakers(turns)).toBe(1);
  });

  test("recordings of one speaker have one speaker, whose speech is found", async () => {
    const single = join(audioDirectory, "single");
    const wrong: string[] = [];
    for (const name of await readdir(single)) {
      const { chunks, turns } = await diarizeFile(join(single, name));
      if (chunks.length === 0 || speakers(turns) !== 1) wrong.push(`${name}: ${speakers(turns)}`);
    }
    expect(wrong).toEqual([]);
  }, 600_000);

  test("built dialogues have the right speaker counts, at most 7.5 % of errors, and less than 0.8 % of confused speech", async () => {
    const dialogue = join(audioDirectory, "dialogue");
    const counts: Record<string, number> = {};
    const errors = [];
    for (const name of (await readdir(dialogue)).filter((file) => /^dlg-.*\.(flac|wav|mp3)$/.test(file)).sort()) {
      const { turns } = await diarizeFile(join(dialogue, name));
      counts[name.slice(0, 6)] = speakers(turns);
      errors.push(await errorsAgainst(join(dialogue, name.replace(/\.\w+$/, ".rttm")), turns));
    }
    expect(counts).toEqual({
      "dlg-01": 2,
      "dlg-02": 2,
      "dlg-03": 2,
      "dlg-04": 3,
      "dlg-05": 3,
      "dlg-06": 4,
      "dlg-07": 4,
      "dlg-08": 6,
      "dlg-09": 2,
      "dlg-10": 3,
      "dlg-11": 2,
      "dlg-12": 6,
      "dlg-13": 8,
    });
    const rates = errorRates(addErrors(errors));
    expect(rates.errorRate).toBeLessThan(0.075);
    expect(rates.confusion).toBeLessThan(0.008);
  }, 600_000);

  test("meetings have at most 30 % of errors, 22 % against the words, and less than 4.5 % of confused speech", async () => {
    const dialogue = join(audioDirectory, "dialogue");
    const errors: DiarizationErrors[] = [];
    const wordErrors: DiarizationErrors[] = [];
    for (const name of (await readdir(dialogue)).filter((file) => /^ami-.*\.flac$/.test(file))) {
      const { turns } = await diarizeFile(join(dialogue, name));
      errors.push(await errorsAgainst(join(dialogue, name.replace(".flac", ".rttm")), turns));
      wordErrors.push(await errorsAgainst(join(dialogue, name.replace(".flac", ".words.rttm")), turns));
    }
    const rates = errorRates(addErrors(errors));
    expect(rates.errorRate).toBeLessThan(0.3);
    expect(rates.confusion).toBeLessThan(0.045);
    expect(errorRates(addErrors(wordErrors)).errorRate).toBeLessThan(0.22);
  }, 600_000);
});
