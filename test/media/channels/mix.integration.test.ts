import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { recordingsFolder } from "../../../harness/checkout.ts";
import { FFMPEG, lavfi, loudness, samplesOf } from "../../../harness/media.ts";
import { chooseMix } from "../../../src/media/channels/choose-mix.ts";
import { PCM_SAMPLE_RATE_HZ } from "../../../src/media/index.ts";
import { canDecode, MediaFolder, sparseWave } from "../media-folder.ts";
import { copyOf } from "../playback/copy-of.ts";

setDefaultTimeout(60_000);

const AMPLITUDE = 20_000;
/** Loudness of a tone of this amplitude. */
const LOUDNESS = AMPLITUDE / Math.SQRT2;
/** Samples for which each channel has its tone, one channel after the other. */
const TURN = PCM_SAMPLE_RATE_HZ / 2;

/** Returns a WAVE file of PCM with this channel mask, in which the channels have a tone in turn. */
function inTurn(channels: number, mask: bigint): Buffer {
  const samples = Buffer.alloc(channels * TURN * channels * 2);
  for (let channel = 0; channel < channels; channel++) {
    for (let index = 0; index < TURN; index++) {
      const sample = Math.round(AMPLITUDE * Math.sin((2 * Math.PI * 440 * index) / PCM_SAMPLE_RATE_HZ));
      samples.writeInt16LE(sample, ((channel * TURN + index) * channels + channel) * 2);
    }
  }
  // WAVEFORMATEXTENSIBLE, whose mask names the positions of the channels.
  const head = Buffer.alloc(68);
  head.write("RIFF");
  head.writeUInt32LE(60 + samples.length, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(40, 16);
  head.writeUInt16LE(0xfffe, 20);
  head.writeUInt16LE(channels, 22);
  head.writeUInt32LE(PCM_SAMPLE_RATE_HZ, 24);
  head.writeUInt32LE(PCM_SAMPLE_RATE_HZ * channels * 2, 28);
  head.writeUInt16LE(channels * 2, 32);
  head.writeUInt16LE(16, 34);
  head.writeUInt16LE(22, 36);
  head.writeUInt16LE(16, 38);
  head.writeUInt32LE(Number(mask), 40);
  Buffer.from("0100000000001000800000aa00389b71", "hex").copy(head, 44);
  head.write("data", 60);
  head.writeUInt32LE(samples.length, 64);
  return Buffer.concat([head, samples]);
}

/** Returns the loudness of each channel's turn in the mix, relative to that in its channel. */
function turnsOf(samples: Int16Array, channels: number): number[] {
  return Array.from({ length: channels }, (_, channel) => {
    const middle = samples.subarray(channel * TURN + TURN / 4, channel * TURN + (3 * TURN) / 4);
    return loudness(middle) / LOUDNESS;
  });
}

describe.if(canDecode("tests of mixes"))("the mix for the transcript and for playback", () => {
  test.each<[string, number, bigint[]]>([
    ["one channel", 1, [0x0n, 0x4n, 0x8n, 0x100n, 0x800n]],
    ["two channels", 2, [0x0n, 0x3n, 0x9n, 0xcn, 0x30n, 0x600n]],
    ["three channels", 3, [0x0n, 0x7n, 0xbn, 0xdn, 0x103n, 0x3800n]],
    ["four channels", 4, [0x0n, 0x33n, 0x603n, 0x107n, 0xfn, 0x1e00n]],
    ["five channels", 5, [0x0n, 0x37n, 0x607n, 0x10fn]],
    ["six channels", 6, [0x0n, 0x3fn, 0x60fn, 0x6c3n, 0x3f000n]],
    ["seven channels", 7, [0x0n, 0x13fn, 0x70fn, 0x6cbn]],
    ["eight channels", 8, [0x0n, 0x63fn, 0xffn, 0x6cfn, 0x3fc00n]],
    ["eleven channels", 11, [0x0n]],
    ["sixteen channels", 16, [0x0n, 0x3ffffn & ~0x3n]],
  ])("of %s has every channel, whatever the channels are called", async (_, channels, masks) => {
    using folder = new MediaFolder();
    for (const mask of masks) {
      const path = await folder.write("channels.wav", inTurn(channels, mask));
      const { decoded, copied } = await copyOf(path, folder);
      for (const [what, samples] of Object.entries({ decoded, copied })) {
        const turns = turnsOf(samples, channels);
        // The front centre counts twice.
        const least = 0.95 / (channels + 1);
        expect([what, mask, turns, turns.filter((turn) => turn < least)]).toEqual([what, mask, turns, []]);
      }
    }
  });

  test("of 5.1 has the front centre as loud as ffmpeg's own mix has it", async () => {
    using folder = new MediaFolder();
    const path = await folder.write("surround.wav", inTurn(6, 0x3fn));
    const other = folder.make("other.pcm", "-i", path, "-ac", "1", "-f", "s16le");
    const [own, ffmpegs] = [(await copyOf(path, folder)).decoded, await samplesOf(other)];
    expect((turnsOf(own, 6)[2] ?? 0) / (turnsOf(ffmpegs, 6)[2] ?? 1)).toBeGreaterThan(0.95);
  });

  test("never clips, although all channels are as loud as can be", async () => {
    using folder = new MediaFolder();
    const loud = Array(6).fill("0.98*sin(2*PI*440*t)").join("|");
    const path = folder.make("loud.wav", ...lavfi(`aevalsrc=${loud}:c=5.1:s=16000:d=2`));
    const samples = (await copyOf(path, folder)).decoded;
    expect(loudness(samples) / (0.98 * 32_768 * Math.SQRT1_2)).toBeCloseTo(1, 1);
    expect(samples.some((sample) => Math.abs(sample) > 32_700)).toBe(false);
  });

  test("has the speech of six microphones that is only on the fourth, which is labelled as the channel for bass", async () => {
    using folder = new MediaFolder();
    const path = join(recordingsFolder, "cases/six-microphones-fourth.flac");
    const { decoded } = await copyOf(path, folder);
    expect(decoded.length / PCM_SAMPLE_RATE_HZ).toBeCloseTo(6, 2);
    // As loud as it was: the channels without sound are left out.
    expect(loudness(decoded)).toBeGreaterThan(4000);
  });

  test("leaves out channels of steady noise, and has a single word in any other", async () => {
    using folder = new MediaFolder();
    const word = "0.5*sin(2*PI*440*t)*between(t\\,5\\,5.3)";
    const hiss = "0.05*(random(0)-0.5)";
    const path = folder.make("noise.wav", ...lavfi(`aevalsrc=${hiss}|${hiss}|0|${word}|${hiss}|0:c=5.1:s=16000:d=8`));
    const { decoded, copied } = await copyOf(path, folder);
    for (const samples of [decoded, copied]) {
      const second = samples.subarray(5.1 * PCM_SAMPLE_RATE_HZ, 5.2 * PCM_SAMPLE_RATE_HZ);
      expect(loudness(second) / (0.5 * 32_768 * Math.SQRT1_2)).toBeCloseTo(1, 1);
      expect(loudness(samples.subarray(0, PCM_SAMPLE_RATE_HZ))).toBeLessThan(10);
    }
  });

  test("has a voice that one channel has inverted", async () => {
    using folder = new MediaFolder();
    const voice = "0.3*sin(2*PI*440*t)*between(mod(t\\,1)\\,0.3\\,0.8)";
    const silent = Array<string>(13).fill("0");
    for (const [layout, ...channels] of [
      ["quad", voice, `-${voice}`, "0", "0"],
      ["quad", "0", voice, "0", `-${voice}`],
      ["quad", voice, voice, `-${voice}`, "0"],
      ["hexadecagonal", voice, ...silent, voice, `-${voice}`],
    ]) {
      const path = folder.make("inverted.wav", ...lavfi(`aevalsrc=${channels.join("|")}:c=${layout}:s=16000:d=4`));
      const { decoded } = await copyOf(path, folder);
      const word = decoded.subarray(1.4 * PCM_SAMPLE_RATE_HZ, 1.7 * PCM_SAMPLE_RATE_HZ);
      expect(loudness(word) / (0.3 * 32_768 * Math.SQRT1_2)).toBeCloseTo(1, 1);
    }
  });

  test("of 64 channels is found while the server answers", async () => {
    using folder = new MediaFolder();
    const [channels, channelLayout] = [64, "64 channels"];
    const path = sparseWave(folder.at("many.wav"), 60, { channels, rateHz: 8000 });
    let longest = 0;
    let last = performance.now();
    const ticks = setInterval(() => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }, 10);
    await chooseMix({ ffmpegPath: FFMPEG, inputPath: path, maxSeconds: 600 }, { index: 0, channels, channelLayout });
    clearInterval(ticks);
    expect(longest).toBeLessThan(500);
  });

  test("follows a track from a film to stereo commercials and back", async () => {
    using folder = new MediaFolder();
    const parts = ["5.1", "stereo", "5.1"].map((layout, index) => {
      const channels = Array(layout === "5.1" ? 6 : 2)
        .fill("0.5*sin(2*PI*440*t)*between(mod(t\\,1)\\,0.3\\,0.8)")
        .join("|");
      const offset = ["-output_ts_offset", String(2 * index)];
      const sound = lavfi(`aevalsrc=${channels}:c=${layout}:s=48000:d=2`);
      return Bun.file(folder.make(`${index}.ts`, ...sound, "-c:a", "ac3", ...offset)).bytes();
    });
    const path = await folder.write("film.ts", Buffer.concat(await Promise.all(parts)));
    const { decoded } = await copyOf(path, folder);
    for (const second of [0.5, 2.5, 4.5]) {
      const from = second * PCM_SAMPLE_RATE_HZ;
      expect([second, loudness(decoded.subarray(from, from + PCM_SAMPLE_RATE_HZ)) > 2000]).toEqual([second, true]);
    }
  });
});
