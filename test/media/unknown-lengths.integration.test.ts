import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { recordingsFolder } from "../../harness/checkout.ts";
import { FFMPEG, lavfi, loudness, MEDIA_TOOL, waveHeader } from "../../harness/media.ts";
import { PCM_SAMPLE_RATE_HZ, probeRecording } from "../../src/media/index.ts";
import { canDecode, MediaFolder, sparseWave } from "./media-folder.ts";

setDefaultTimeout(60_000);

const ready = canDecode("tests of lengths");

const SECONDS = 3;
const tone = lavfi(`sine=frequency=300:duration=${SECONDS}:sample_rate=16000`);
/** 30 hours: longer than any accepted recording. */
const LONG = 108_000;
const MOST = 64_800;

/** Checks that a file is as long as its sound, for the limit and for the transcript, and not taken for damaged. */
async function expectSound(folder: MediaFolder, inputPath: string, seconds = SECONDS, tolerance = 0.15): Promise<void> {
  const probed = await probeRecording(FFMPEG, inputPath);
  if (!probed.ok) throw new Error(probed.reason);
  if (!probed.durationIsEstimate) expect(probed.durationSeconds ?? seconds).toBeLessThan(seconds + 1);
  const { samples, damaged } = await folder.decode(inputPath, { maxSeconds: MOST });
  expect(Math.abs(samples.length / PCM_SAMPLE_RATE_HZ - seconds)).toBeLessThan(tolerance);
  expect(damaged).toBe(false);
  // The sound begins at 0.
  expect(loudness(samples.subarray(0, PCM_SAMPLE_RATE_HZ / 2))).toBeGreaterThan(1000);
}

describe.if(ready)("a recording is as long as its sound", () => {
  test.each([
    ["late-clock-fragments.mp4", 6.08],
    ["sox-pipe.aiff", 4],
  ])("in %s", async (name, seconds) => {
    using folder = new MediaFolder();
    await expectSound(folder, join(recordingsFolder, "cases", name), seconds, 0.01);
  });

  const fragments = "-movflags frag_keyframe+empty_moov+default_base_moof -frag_duration 500000".split(" ");
  test.each([
    ["fragments of MP4", ["-c:a", "aac", ...fragments, "-f", "mp4"]],
    ["MP4", ["-c:a", "aac", "-f", "mp4"]],
    ["Matroska", ["-c:a", "libopus", "-f", "matroska"]],
    ["WebM without a length, as browsers record it", ["-c:a", "libopus", "-live", "1", "-f", "webm"]],
    ["an MPEG transport stream", ["-c:a", "aac", "-f", "mpegts"]],
    ["Ogg", ["-c:a", "libopus", "-f", "ogg"]],
    ["Flash video", ["-c:a", "aac", "-ar", "44100", "-f", "flv"]],
    ["Windows Media", ["-c:a", "wmav2", "-f", "asf"]],
  ])("in %s whose clock begins after 25 h, after 30 h or in 1970", async (_, format) => {
    using folder = new MediaFolder();
    for (const start of [90_000, LONG, 1_732_900_000]) {
      const path = folder.make("late", ...tone, "-output_ts_offset", String(start), ...format);
      await expectSound(folder, path);
    }
  });

  const picture = lavfi(`color=size=16x16:rate=1/3600:duration=${LONG}`);
  const subtitles = ["-i", "@subtitles.srt"];
  const noise = lavfi(`anullsrc=r=1000:cl=mono:d=${LONG / 20}`);
  test.each([
    ["a picture", "mov", [...tone, ...picture, "-map", "0", "-map", "1", "-c:v", "mjpeg", "-c:a", "aac"]],
    ["a picture in front", "mkv", [...tone, ...picture, "-map", "1", "-map", "0", "-c:v", "mjpeg", "-c:a", "libopus"]],
    ["a subtitle", "mp4", [...tone, ...subtitles, "-map", "0", "-map", "1", "-c:a", "aac", "-c:s", "mov_text"]],
    ["a subtitle", "mkv", [...tone, ...subtitles, "-map", "0", "-map", "1", "-c:a", "libopus", "-c:s", "srt"]],
    ["another audio track", "mka", [...tone, ...noise, "-map", "0", "-map", "1", "-c:a", "flac"]],
  ])("with %s that lasts much longer, in %s", async (_, extension, args) => {
    using folder = new MediaFolder();
    const late = "1\n29:59:59,000 --> 30:00:00,000\nlate\n\n";
    await folder.write("subtitles.srt", `1\n00:00:01,000 --> 00:00:02,000\nsoon\n\n${late}`);
    const path = folder.make(`long.${extension}`, ...args.map((arg) => arg.replace("@", `${folder.path}/`)));
    await expectSound(folder, path);
  });

  /** Changes numbers in a file that ffmpeg makes. */
  const changed = (folder: MediaFolder, args: readonly string[], change: (bytes: Buffer) => unknown) =>
    folder.change(folder.make("changed", ...tone, ...args), change);
  test.each<[string, string[], (bytes: Buffer) => unknown]>([
    [
      "the Xing header of MP3",
      ["-c:a", "libmp3lame", "-b:a", "64k", "-f", "mp3"],
      (bytes) => bytes.writeUInt32BE((LONG * 16_000) / 576, bytes.indexOf(/Xing|Info/.exec(`${bytes}`)?.[0] ?? "") + 8),
    ],
    ["the header of FLAC", ["-f", "flac"], (bytes) => bytes.writeUIntBE(0xf0_0000_0000 + LONG * 16_000, 21, 5)],
    [
      "the fact chunk of WAV",
      ["-c:a", "adpcm_ms", "-f", "wav"],
      (bytes) => bytes.writeUInt32LE(LONG * 16_000, bytes.indexOf("fact") + 8),
    ],
    [
      "the headers of MP4",
      ["-c:a", "aac", "-f", "mp4"],
      (bytes) => {
        bytes.writeUInt32BE(LONG * 1000, bytes.indexOf("mvhd") + 20);
        bytes.writeUInt32BE(LONG * 16_000, bytes.indexOf("mdhd") + 20);
      },
    ],
    [
      "the segment of Matroska",
      ["-c:a", "libopus", "-f", "matroska"],
      (bytes) => bytes.writeDoubleBE(LONG * 1000, bytes.indexOf(Buffer.from("448988", "hex")) + 3),
    ],
    [
      "the tags of Flash video",
      ["-c:a", "aac", "-ar", "44100", "-f", "flv"],
      (bytes) => bytes.writeDoubleBE(LONG, bytes.indexOf("duration") + 9),
    ],
    ["the header of WavPack", ["-c:a", "wavpack", "-f", "wv"], (bytes) => bytes.writeUInt32LE(LONG * 16_000, 12)],
  ])("although %s claims 30 h", async (_, args, change) => {
    using folder = new MediaFolder();
    await expectSound(folder, await changed(folder, args, change));
  });

  const be = (at: number, ...sizes: number[]) => sizes.map((size) => (bytes: Buffer) => bytes.writeUInt32BE(size, at));
  const every = [0, 8, 0x7f00_0000, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];
  const wide = [0n, 24n, 0x7fff_ffffn, 0xffff_ffffn, 0x7fff_ffff_ffff_0000n, 2n ** 63n - 1n, 2n ** 64n - 1n];
  test.each<[string, string[], ((bytes: Buffer) => unknown)[]]>([
    ["AU", ["-f", "au"], be(8, ...every)],
    [
      "AIFF",
      ["-f", "aiff"],
      every.flatMap((form) =>
        every.map((sound) => (bytes: Buffer) => {
          bytes.writeUInt32BE(form, 4);
          bytes.writeUInt32BE(sound, bytes.indexOf("COMM") + 10);
          bytes.writeUInt32BE(sound, bytes.indexOf("SSND") + 4);
        }),
      ),
    ],
    [
      "WAV",
      ["-bitexact", "-c:a", "pcm_s16le", "-f", "wav"],
      every.map((size) => (bytes: Buffer) => {
        bytes.writeUInt32LE(size, 4);
        // Eight bytes are a length that a writer knows.
        bytes.writeUInt32LE(size === 8 ? 0 : size, 40);
      }),
    ],
    [
      "RF64",
      ["-bitexact", "-rf64", "always", "-f", "wav"],
      wide.map((size) => (bytes: Buffer) => {
        for (const at of [20, 28, 36]) bytes.writeBigUInt64LE(size === 24n ? 0n : size, at);
      }),
    ],
    [
      "W64",
      ["-f", "w64"],
      wide.flatMap((riff) =>
        wide.map((data) => (bytes: Buffer) => {
          bytes.writeBigUInt64LE(riff, 16);
          bytes.writeBigUInt64LE(data, bytes.indexOf(Buffer.from("64617461f3ac", "hex")) + 16);
        }),
      ),
    ],
    [
      "CAF",
      ["-c:a", "pcm_s16be", "-f", "caf"],
      wide.map((size) => (bytes: Buffer) => {
        bytes.writeBigUInt64BE(size === 24n ? 4n : size, bytes.indexOf("data") + 4);
      }),
    ],
  ])("in %s whose sizes are those of a writer that did not know them", async (_, args, changes) => {
    using folder = new MediaFolder();
    // All combinations take seconds; each size occurs with several others.
    for (const [index, change] of changes.entries()) {
      if (changes.length < 10 || index % 3 === 0) await expectSound(folder, await changed(folder, args, change));
    }
  });

  test.each([
    ["aiff", "pcm_s16be"],
    ["w64", "pcm_s16le"],
    ["wav", "pcm_s16le"],
    ["au", "pcm_s16be"],
    ["caf", "pcm_s16be"],
    ["avi", "pcm_s16le"],
    ["matroska", "pcm_s16le"],
    ["flac", "flac"],
  ])("in %s that was written to a pipe", async (muxer, encoder) => {
    using folder = new MediaFolder();
    const options = ["-nostdin", "-v", "error", ...tone, "-c:a", encoder, "-f", muxer, "pipe:1"];
    const written = Bun.spawnSync([MEDIA_TOOL, ...options]).stdout;
    await expectSound(folder, await folder.write("piped", written));
  });
});

describe.if(ready)("a recording that is longer than the limit", () => {
  test("claims its own length, if its packets confirm it", async () => {
    using folder = new MediaFolder();
    const probed = await probeRecording(FFMPEG, sparseWave(folder.at("long.wav"), 72_000, { rateHz: 1 }));
    expect(probed.ok && Math.round(probed.durationSeconds ?? 0)).toBe(72_000);
  });

  test("fails while it is decoded, if it claims to be short", async () => {
    using folder = new MediaFolder();
    const header = waveHeader({ channels: 1, rateHz: 8000, claimedBytes: 0 });
    const path = await folder.write("short.wav", Buffer.concat([header, Buffer.alloc(8000 * 2 * 30)]));
    const decoding = folder.decode(path, { maxSeconds: 20 });
    expect(await decoding.catch((error) => error)).toMatchObject({ fault: "recording_too_long" });
  });
});
