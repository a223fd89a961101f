import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { statSync, truncateSync } from "node:fs";
import { damagedFiles } from "../../../harness/bad-files/groups.ts";
import { specialFiles } from "../../../harness/bad-files/special-files.ts";
import { corpusPath } from "../../../harness/checkout.ts";
import { available, FFMPEG, fakeFfmpeg, lavfi, loudness } from "../../../harness/media.ts";
import { randomNumbers } from "../../../harness/random-numbers.ts";
import { PCM_SAMPLE_RATE_HZ, readWaveform } from "../../../src/media/index.ts";
import { encodeCopy, estimateCopyBytes, isWholeWebm } from "../../../src/media/playback/make-copy.ts";
import { PeakMeter } from "../../../src/media/playback/waveform.ts";
import { canDecode, MediaFolder } from "../media-folder.ts";
import { copyOf, lagAt, loudestSeconds, played, UndecodableError } from "./copy-of.ts";
import { cuesFirst, webmPlaces } from "./webm.ts";

setDefaultTimeout(60_000);

const ready = canDecode("tests of copies to listen to");
const corpus = ready && available(corpusPath(""), "tests of copies of the corpus");
/** Largest difference in time that a person does not notice, in seconds. */
const TOGETHER_SECONDS = 0.05;
const everyNthSpecial = 3;

const formats = [
  ...[
    "jfk.aac",
    "jfk.aiff",
    "jfk.flac",
    "jfk.m4a",
    "jfk.mp3",
    "jfk-vbr.mp3",
    "jfk.opus",
    "jfk-vorbis.ogg",
    "jfk.webm",
    "jfk.wma",
  ],
  ...["jfk-24bit.wav", "jfk-44k1-stereo.wav", "jfk-8k-mulaw.wav", "jfk-adpcm.wav", "jfk-gsm.wav", "jfk-mp3-named.wav"],
  ...[
    "jfk-no-extension",
    "jfk-two-audio-tracks.mkv",
    "jfk-video.mov",
    "jfk-video.mp4",
    "jfk-video.webm",
    "bad-truncated.mp3",
  ],
].map((name) => `formats/${name}`);
const dialogues = ["dlg-11-2spk-stereo-call.wav", "dlg-12-6spk-mp3.mp3", "ami-EN2001a-first30s.flac"];

describe.if(corpus)("the copy has the times of the transcript", () => {
  test.each([...formats, ...dialogues.map((name) => `dialogue/${name}`)])("%s", async (name) => {
    using folder = new MediaFolder();
    const { decoded, copied } = await copyOf(corpusPath(name), folder);
    expect(Math.abs(copied.length - decoded.length) / PCM_SAMPLE_RATE_HZ).toBeLessThan(TOGETHER_SECONDS);
    const lags = loudestSeconds(decoded, 3).map((at) => lagAt(at, decoded, copied));
    expect(Math.max(...lags.map(Math.abs))).toBeLessThan(TOGETHER_SECONDS);
  });
});

describe.if(ready)("a player seeks", () => {
  /** Two minutes in which each second has its own sound. */
  const sweep = lavfi("aevalsrc=0.3*sin(t*(500+7*floor(t))):d=120:s=16000");
  const folder = new MediaFolder();
  let copy: Awaited<ReturnType<typeof copyOf>>;
  beforeAll(async () => {
    copy = await copyOf(folder.make("long.wav", ...sweep), folder, 1000);
  });
  afterAll(() => folder[Symbol.dispose]());

  test("by cues at the file's beginning, at most ten seconds apart, each at the start of a cluster", () => {
    const places = webmPlaces(copy.audioPath);
    expect(cuesFirst(places)).toBe(true);
    expect(places.durationSeconds).toBeCloseTo(120, 1);
    expect(places.cues.length).toBe(places.clusters.size);
    const steps = places.cues.map(({ seconds }, index) => (places.cues[index + 1]?.seconds ?? 120) - seconds);
    expect([places.cues[0]?.seconds, Math.max(...steps) <= 10.1]).toEqual([0, true]);
    expect(places.cues.filter(({ seconds, at }) => places.clusters.get(at) !== seconds)).toEqual([]);
  });

  test("to the requested sample", async () => {
    for (const seconds of [1.5, 59.97, 115]) {
      const from = Math.round(seconds * PCM_SAMPLE_RATE_HZ);
      const jumped = await played(copy.audioPath, folder, seconds);
      expect(Math.abs(lagAt(0, copy.decoded.subarray(from), jumped))).toBeLessThan(TOGETHER_SECONDS);
    }
  });
});

describe.if(ready)("a copy", () => {
  /** Makes a copy with ffmpeg, or with a script in its place. */
  async function encodeIn(folder: MediaFolder, script: string | null, inputPath: string, durationSeconds = 5) {
    const ffmpegPath = script === null ? FFMPEG : await fakeFfmpeg(folder.path, script);
    const paths = { inputPath, audioPath: folder.at("a.webm"), waveformPath: folder.at("waveform") };
    await encodeCopy({ ffmpegPath, ...paths, durationSeconds, maxSeconds: 600 });
  }

  test("takes no more disk space than estimated, even of noise and music", async () => {
    using folder = new MediaFolder();
    const sounds = ["anoisesrc=d=60:a=0.9:r=16000", "anoisesrc=d=60:color=pink:r=48000", "sine=f=7000:d=60"];
    for (const sound of sounds) {
      const path = folder.make("sound.wav", ...lavfi(sound));
      const { audioPath, waveformPath } = await copyOf(path, folder);
      expect(statSync(audioPath).size + statSync(waveformPath).size).toBeLessThan(estimateCopyBytes(60));
    }
  });

  test("of channels that would cancel each other contains the louder one", async () => {
    using folder = new MediaFolder();
    const path = folder.make("inverted.wav", ...lavfi("aevalsrc=0.2*sin(2000*t)|-0.4*sin(2000*t):d=3:s=16000"));
    const { copied, waveformPath } = await copyOf(path, folder);
    expect(loudness(copied) / loudness(Int16Array.of(0.4 * 32768))).toBeCloseTo(Math.SQRT1_2, 1);
    expect((await readWaveform(waveformPath, { most: 100 })).peaks[10]).toBeCloseTo(255 * Math.sqrt(0.4), -1);
  });

  test("of a call contains both parties", async () => {
    using folder = new MediaFolder();
    const call = "aevalsrc=0.4*sin(2000*t)*lt(t\\,2)|0.4*sin(3000*t)*gte(t\\,2):d=4:s=16000";
    const path = folder.make("call.wav", ...lavfi(call));
    const { copied } = await copyOf(path, folder);
    const half = copied.length / 2;
    for (const part of [copied.subarray(0, half), copied.subarray(half)]) expect(loudness(part)).toBeGreaterThan(2000);
  });

  test("is made at the lowest priority, and not stopped by the messages of a bad file", async () => {
    using folder = new MediaFolder();
    const path = folder.make("sound.wav", ...lavfi("sine=d=5"));
    const note = folder.at("a.webm.nice");
    const script = `case "$*" in *webm\\ -y*) nice > '${note}'; yes | head -c 3000000 >&2;; esac; exec ${FFMPEG} "$@"`;
    await encodeIn(folder, script, path);
    expect(await Bun.file(note).text()).toBe("19\n");
  });

  test("is known to be incomplete if it is truncated", async () => {
    using folder = new MediaFolder();
    const path = folder.make("sound.wav", ...lavfi("sine=d=5"));
    const { audioPath } = await copyOf(path, folder);
    expect(await isWholeWebm(audioPath)).toBe(true);
    truncateSync(audioPath, statSync(audioPath).size - 1);
    expect(await isWholeWebm(audioPath)).toBe(false);
    for (const bytes of [Buffer.alloc(0), Buffer.alloc(400), Buffer.from("1a45dfa3".repeat(100), "hex")]) {
      await Bun.write(audioPath, bytes);
      expect(await isWholeWebm(audioPath)).toBe(false);
    }
  });

  test("fails with a sentence if ffmpeg cannot encode Opus, ends early, or finds no audio", async () => {
    using folder = new MediaFolder();
    const path = folder.make("sound.wav", ...lavfi("sine=d=5"));
    const without = `case "$*" in *libopus*webm*) echo "Unknown encoder 'libopus'" >&2; exit 8;; *) exec ${FFMPEG} "$@";; esac`;
    await expect(encodeIn(folder, without, path)).rejects.toThrow("built without libopus");
    await expect(encodeIn(folder, null, path, 9)).rejects.toThrow("stopped after 80000 samples");
    await expect(encodeIn(folder, null, corpusPath("manifest.json"))).rejects.toThrow(
      "not an audio or video recording",
    );
    const header = folder.make("header.wav", ...lavfi("sine=d=1"));
    truncateSync(header, 78);
    await expect(encodeIn(folder, null, header, 1)).rejects.toThrow("no decodable audio");
  });
});

describe.if(corpus)("a bad file that can be decoded has a copy of the same length", () => {
  const decodable = async (bytes: Uint8Array, folder: MediaFolder): Promise<number | null> => {
    const path = await folder.write("upload", bytes);
    const heard = await copyOf(path, folder, 1800).catch((error: unknown) => {
      if (error instanceof UndecodableError) return null;
      throw error;
    });
    return heard === null ? null : Math.abs(heard.copied.length - heard.decoded.length) / PCM_SAMPLE_RATE_HZ;
  };

  test("if it is damaged at random", async () => {
    using folder = new MediaFolder();
    const apart: number[] = [];
    for (const { bytes } of damagedFiles(20, randomNumbers(11))) {
      apart.push(...[await decodable(bytes(), folder)].filter((seconds) => seconds !== null));
    }
    expect(apart.length).toBeGreaterThan(5);
    expect(Math.max(...apart)).toBeLessThan(TOGETHER_SECONDS);
  }, 120_000);

  test("if it is built to cost, mislead or confuse", async () => {
    using folder = new MediaFolder();
    const some = Object.values(specialFiles(folder.path)).filter((_, index) => index % everyNthSpecial === 0);
    for (const [bytes] of some) {
      expect((await decodable(bytes(), folder)) ?? 0).toBeLessThan(TOGETHER_SECONDS);
    }
  }, 120_000);
});

describe("a waveform", () => {
  test("is the same for audio in chunks of any length", () => {
    const random = randomNumbers(3);
    const samples = Int16Array.from({ length: 2 * 40_001 }, () => Math.floor(random() * 65_536) - 32_768);
    const bytes = new Uint8Array(samples.buffer);
    for (const channels of [1, 2] as const) {
      const whole = new PeakMeter(channels);
      whole.push(bytes);
      const inPieces = new PeakMeter(channels);
      for (let at = 0; at < bytes.length; ) {
        const end = Math.min(bytes.length, at + 1 + Math.floor(random() * 5000));
        inPieces.push(bytes.subarray(at, end));
        at = end;
      }
      expect(inPieces.sampleCount).toBe((2 * 40_001) / channels);
      expect(inPieces.peaks()).toEqual(whole.peaks());
      expect(inPieces.correlation).toBeCloseTo(whole.correlation, 10);
    }
  });

  test("contains the loudest sample of each tenth of a second, and of the remainder", () => {
    const samples = new Int16Array(3 * 1600 + 10);
    samples[10] = 32_767;
    samples[1600] = -8192;
    samples[4800] = -32_768;
    const meter = new PeakMeter(1);
    meter.push(new Uint8Array(samples.buffer));
    expect([...meter.peaks()]).toEqual([255, 128, 0, 255]);
  });

  test("contains all peaks of a recording of hours", () => {
    const hour = new Uint8Array(2 * PCM_SAMPLE_RATE_HZ * 3600).fill(1);
    const meter = new PeakMeter(1);
    for (let count = 0; count < 5; count++) meter.push(hour);
    const peaks = meter.peaks();
    expect([peaks.length, peaks.every((peak) => peak === peaks[0])]).toEqual([5 * 36_000, true]);
  });

  test("is read in parts and at the requested resolution, without losing a peak", async () => {
    using folder = new MediaFolder();
    const path = folder.at("waveform");
    const finest = Uint8Array.from({ length: 648_000 }, (_, index) => (index === 500_123 ? 200 : index % 50));
    await Bun.write(path, finest);
    const day = await readWaveform(path, { most: 2000 });
    expect([day.peaksPerSecond, day.startSeconds, day.peaks.length]).toEqual([10 / 324, 0, 2000]);
    expect([Math.max(...day.peaks), day.peaks.indexOf(200)]).toEqual([200, Math.floor(500_123 / 324)]);
    const part = await readWaveform(path, { fromSeconds: 50_012, toSeconds: 50_013, most: 100 });
    expect(part).toEqual({ peaksPerSecond: 10, startSeconds: 50_012, peaks: finest.slice(500_120, 500_130) });
    const end = await readWaveform(path, { fromSeconds: 64_799.95, toSeconds: 1e9, most: 100 });
    expect([end.startSeconds, ...end.peaks]).toEqual([64_799.9, 49]);
    expect((await readWaveform(path, { fromSeconds: 70_000, most: 100 })).peaks.length).toBe(0);
    const wide = await readWaveform(path, { fromSeconds: 3.3, toSeconds: 9, most: 20 });
    expect([wide.startSeconds, wide.peaks[0]]).toEqual([3.3, 35]);
  });
});
