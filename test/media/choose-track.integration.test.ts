import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import {
  available,
  FFMPEG,
  fakeFfmpeg,
  inFolder,
  lavfi,
  loudness,
  MEDIA_TOOL,
  makeWithFfmpeg,
} from "../../harness/media.ts";
import { chooseTrack } from "../../src/media/choose-track.ts";
import { decodeRecording, PCM_SAMPLE_RATE_HZ } from "../../src/media/index.ts";
import type { AudioTrack } from "../../src/media/probe.ts";
import { copyOf } from "./playback/copy-of.ts";

setDefaultTimeout(60_000);

const ready = available(FFMPEG, "tests of tracks") && available(MEDIA_TOOL, "tests of tracks");

const SECONDS = 8;
const of = (expression: string) => lavfi(`aevalsrc=${expression}:s=16000:d=${SECONDS}`);
/** Words of half a second with pauses, like speech; `from` is the second of the first one. */
const words = (amplitude: number, from = 0) =>
  of(`${amplitude}*sin(1500*t)*between(mod(t\\,1)\\,0\\,0.5)*gte(t\\,${from})+0.0005*sin(7000*t)`);
const silence = of("0");
const hiss = (amplitude: number) => lavfi(`anoisesrc=a=${amplitude}:r=16000:d=${SECONDS}:seed=1`);
const hum = of("0.1*sin(314*t)");
const speech = words(0.3);

/** Tracks of a file, in its order. */
async function chosenOf(
  folder: string,
  tracks: readonly (readonly string[])[],
  { extension = "mkv", encoder = "libopus", options = [] as readonly string[], maxSeconds = 600 } = {},
) {
  const path = join(folder, `tracks.${extension}`);
  const maps = tracks.flatMap((_, index) => ["-map", String(index)]);
  makeWithFfmpeg(...tracks.flat(), ...maps, "-c:a", encoder, ...options, path);
  const outputPath = join(folder, "chosen.pcm");
  return await decodeRecording({ ffmpegPath: FFMPEG, inputPath: path, outputPath, maxSeconds });
}

describe.if(ready)("of several audio tracks", () => {
  test.each<[string, string[][], number]>([
    ["the first one", [speech, words(0.6)], 0],
    ["the first one, although it is quiet", [words(0.005), speech], 0],
    ["the first one, although its words begin late", [words(0.3, 6), speech], 0],
    ["the second one after digital silence", [silence, speech], 1],
    ["the second one after the hiss of an open microphone", [hiss(0.002), speech], 1],
    ["the second one after loud hiss", [hiss(0.2), speech], 1],
    ["the second one after hum", [hum, speech], 1],
    ["the third one after two silent ones", [silence, silence, speech], 2],
    ["the last one of many", [...Array(15).fill(silence), speech], 15],
    ["the first one, if no track has sound", [silence, silence], 0],
    ["the loudest one, if no track has words", [silence, hiss(0.01), hum], 2],
  ])("%s is transcribed", async (_, tracks, chosen) => {
    await inFolder(async (folder) => {
      const decoded = await chosenOf(folder, tracks);
      expect(decoded).toMatchObject({ trackIndex: chosen, trackCount: tracks.length, damaged: false });
    });
  });

  test.each([
    ["mp4", "aac"],
    ["mov", "pcm_s16le"],
    ["ts", "aac"],
    ["mka", "flac"],
    ["avi", "pcm_s16le"],
    ["wma", "wmav2"],
  ])("the one with sound is found in %s", async (extension, encoder) => {
    await inFolder(async (folder) => {
      const decoded = await chosenOf(folder, [silence, speech], { extension, encoder });
      expect(decoded).toMatchObject({ trackIndex: 1, trackCount: 2 });
    });
  });

  test("the one that is marked as the default is preferred, unless it is silent", async () => {
    await inFolder(async (folder) => {
      const options = ["-disposition:a:0", "0", "-disposition:a:1", "default"];
      expect(await chosenOf(folder, [speech, words(0.2)], { options })).toMatchObject({ trackIndex: 1 });
      expect(await chosenOf(folder, [speech, silence], { options })).toMatchObject({ trackIndex: 0 });
    });
  });

  test("one whose channels cancel each other in a mix has sound", async () => {
    await inFolder(async (folder) => {
      const voice = "0.3*sin(1500*t)*between(mod(t\\,1)\\,0\\,0.5)";
      const inverse = lavfi(`aevalsrc=${voice}|-${voice}:s=16000:d=${SECONDS}`);
      expect(await chosenOf(folder, [inverse, speech], { encoder: "flac" })).toMatchObject({ trackIndex: 0 });
    });
  });

  test("two channels of the chosen one are two parties of a call", async () => {
    await inFolder(async (folder) => {
      const [left, right] = ["between(mod(t\\,2)\\,0\\,0.8)", "between(mod(t\\,2)\\,1\\,1.8)"];
      const call = lavfi(`aevalsrc=0.3*sin(1500*t)*${left}|0.3*sin(2500*t)*${right}:s=16000:d=${SECONDS}`);
      const path = join(folder, "call.mkv");
      makeWithFfmpeg(...silence, ...call, "-map", "0", "-map", "1", "-c:a", "flac", path);
      const outputs = { outputPath: join(folder, "first.pcm"), secondOutputPath: join(folder, "second.pcm") };
      const decoded = await decodeRecording({ ffmpegPath: FFMPEG, inputPath: path, ...outputs, maxSeconds: 600 });
      expect([decoded.trackIndex, decoded.paths.length]).toEqual([1, 2]);
    });
  });

  /** Changes a text in a file. */
  async function replaced(path: string, before: string, after: string, from = 0): Promise<void> {
    const bytes = Buffer.from(await Bun.file(path).bytes());
    bytes.write(after, bytes.indexOf(before, from), "latin1");
    await Bun.write(path, bytes);
  }

  test.each([
    ["Matroska", "mkv", "libopus", "A_OPUS", "A_NONE"],
    ["Matroska, of a kind of AAC that nobody has", "mkv", "aac", "A_AAC", "A_AAX"],
    ["QuickTime", "mov", "alac", "alac", "none"],
  ])("one without a decoder does not hide the next one, in %s", async (_, extension, encoder, before, after) => {
    await inFolder(async (folder) => {
      const path = join(folder, `tracks.${extension}`);
      makeWithFfmpeg(...words(0.3), ...speech, "-map", "0", "-map", "1", "-c:a", encoder, path);
      await replaced(path, before, after);
      const { decoded, copied } = await copyOf(path, folder);
      for (const samples of [decoded, copied]) {
        expect(samples.length / PCM_SAMPLE_RATE_HZ).toBeCloseTo(SECONDS, 0);
        expect(loudness(samples)).toBeGreaterThan(1000);
      }
    });
  });

  test("the playback copy is that of the chosen track", async () => {
    await inFolder(async (folder) => {
      const path = join(folder, "tracks.mp4");
      makeWithFfmpeg(...silence, ...speech, "-map", "0", "-map", "1", "-c:a", "aac", path);
      const { copied } = await copyOf(path, folder);
      expect(loudness(copied)).toBeGreaterThan(1000);
    });
  });

  test("the chosen one declares its own length, however short the first one is", async () => {
    await inFolder(async (folder) => {
      const tone = "aevalsrc=0.3*sin(1500*t)*between(mod(t\\,1)\\,0\\,0.5):s=8000:d=700";
      const decoded = await chosenOf(folder, [silence, lavfi(tone)], { encoder: "pcm_s16le", maxSeconds: 900 });
      expect(decoded.trackIndex).toBe(1);
      expect(decoded.declaredSeconds).toBeWithin(699, 702);
    });
  });

  test("the chosen one is not damaged because another one is longer", async () => {
    await inFolder(async (folder) => {
      const longer = lavfi("aevalsrc=0:s=16000:d=60");
      expect(await chosenOf(folder, [speech, longer])).toMatchObject({ trackIndex: 0, damaged: false });
    });
  });

  test("many that take long to decode are not all searched", async () => {
    await inFolder(async (folder) => {
      const ffmpegPath = await fakeFfmpeg(folder, "sleep 1");
      const path = join(folder, "tracks.mkv");
      await Bun.write(path, "tracks");
      const track = (index: number): AudioTrack => ({ index, channels: 1, channelLayout: "mono" });
      const [first, ...others] = Array.from({ length: 32 }, (_, index) => track(index));
      if (first === undefined) throw new Error("there are no tracks");
      const lengths = { durationSeconds: 600, containerSeconds: 600, durationIsEstimate: false };
      const since = performance.now();
      const probed = { ok: true, ...lengths, tracks: [first, ...others], trackCount: 32 } as const;
      expect(await chooseTrack({ ffmpegPath, inputPath: path, maxSeconds: 30 }, probed)).toEqual(first);
      expect(performance.now() - since).toBeLessThan(15_000);
    });
  });

  test("no more are searched than a recording of the longest accepted length takes", async () => {
    await inFolder(async (folder) => {
      const path = join(folder, "tracks.mka");
      const tracks = [silence, silence, silence, speech];
      const maps = tracks.flatMap((_, index) => ["-map", String(index)]);
      makeWithFfmpeg(...tracks.flat(), ...maps, "-c:a", "flac", path);
      const outputPath = join(folder, "chosen.pcm");
      const limited = { ffmpegPath: FFMPEG, inputPath: path, outputPath, maxSeconds: 2 * SECONDS };
      expect(await decodeRecording(limited)).toMatchObject({ trackIndex: 0, trackCount: 4 });
    });
  });
});
