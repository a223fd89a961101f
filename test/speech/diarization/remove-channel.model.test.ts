import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { audioDirectory, diarize } from "../../../harness/diarized-recording.ts";
import { randomNumbers } from "../../../harness/random-numbers.ts";
import { embed, readPcm } from "../../../src/speech/diarization/index.ts";
import { channelComponent, removeChannel } from "../../../src/speech/diarization/remove-channel.ts";
import { dot, minSimilarity, thresholdsFor } from "../../../src/speech/diarization/similarity.ts";
import { SAMPLE_RATE } from "../../../src/timeline/index.ts";
import { openedModels } from "../../support/diarization-models.ts";

setDefaultTimeout(120_000);

/** Filters a voice like a poor telephone line: 300 to 3400 Hz, sampled at 8 kHz. */
const line = "firequalizer=gain='if(between(f,300,3400),0,-90)',aresample=8000,aresample=16000";

test("an embedding without its channel component has unit length and does not change again", () => {
  const random = randomNumbers(7);
  const voice = Float32Array.from({ length: 192 }, () => random() - 0.5);
  const once = removeChannel(voice);
  expect(dot(once, once)).toBeCloseTo(1, 5);
  expect(dot(once, removeChannel(once))).toBeCloseTo(1, 5);
  expect(dot(once, voice) / Math.sqrt(dot(voice, voice))).toBeLessThan(0.9999);
});

test("an embedding of another size stays as it is", () => {
  const voice = Float32Array.of(0.6, 0.8);
  expect(removeChannel(voice)).toEqual(voice);
  expect(channelComponent(voice)).toBe(0);
});

test("thresholds are higher on a telephone line than in the studio", () => {
  const [studio, telephone] = [thresholdsFor(0.15), thresholdsFor(0.3)];
  expect([studio.ofVoices, studio.ofSpeakers(3)]).toEqual([minSimilarity.ofVoices, minSimilarity.ofSpeakers]);
  expect(telephone.ofVoices).toBeGreaterThan(studio.ofVoices);
  expect(telephone.ofMeans).toBeGreaterThan(studio.ofMeans);
  expect(telephone.ofSpeakers(5)).toBeGreaterThan(studio.ofSpeakers(5));
});

const recording = join(audioDirectory, "dialogue/dlg-02-2spk-MM.flac");
const hasRecording = existsSync(recording);
if (!hasRecording) console.warn("SKIPPED: voices on the telephone, because scripts/setup made no recordings");

describe.skipIf(!hasRecording)("on a telephone line", () => {
  const { opened, decode } = openedModels();

  test("two men with similar channels are two speakers", async () => {
    const clear = await decode(recording, undefined, "clear.pcm");
    const over = await decode(recording, `${line},atrim=0:60`);
    const turns: { start: number; end: number; speaker: string }[] = await Bun.file(
      recording.replace(".flac", ".turns.json"),
    ).json();
    const [first] = turns;
    const other = turns.find(({ speaker }) => speaker !== first?.speaker);
    const voiceOf = async (pcm: typeof clear, start: number) => {
      const samples = await readPcm(pcm, Math.floor((start + 0.2) * SAMPLE_RATE), 2 * SAMPLE_RATE);
      const heard = await embed(opened(), samples);
      return { line: channelComponent(heard), voice: removeChannel(heard) };
    };
    const [one, two] = [first?.start ?? 0, other?.start ?? 0];
    const [mine, clearly, theirs] = [await voiceOf(over, one), await voiceOf(clear, one), await voiceOf(over, two)];
    expect(mine.line).toBeGreaterThan(0.2);
    expect(clearly.line).toBeLessThan(0.2);
    const strangers = dot(mine.voice, theirs.voice);
    expect(strangers).toBeLessThan(0.3);
    expect(dot(mine.voice, clearly.voice)).toBeGreaterThan(strangers + 0.2);
    const found = await diarize(opened(), over);
    expect(new Set(found.turns.map(({ speaker }) => speaker)).size).toBe(2);
  });

  test("a person who changes from a telephone to a room is one speaker", async () => {
    const single = join(audioDirectory, "single/en-leopard.flac");
    const [clear, over] = [await decode(single, undefined, "clear.pcm"), await decode(single, line)];
    const parts = [await Bun.file(clear.path).bytes(), await Bun.file(over.path).bytes()];
    await Bun.write(clear.path, new Blob(parts));
    const { turns } = await diarize(opened(), { ...clear, sampleCount: clear.sampleCount + over.sampleCount });
    expect(new Set(turns.map(({ speaker }) => speaker)).size).toBe(1);
  });
});
