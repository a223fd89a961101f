import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { corpusPath } from "../../../harness/checkout.ts";
import { loudness, samplesOf } from "../../../harness/media.ts";
import { canDecode, MediaFolder } from "../media-folder.ts";

setDefaultTimeout(60_000);

/** A call of 53 s. The left party talks from 0.3 to 6.8 s, the right one from 7.5 to 23.3 s. */
const call = corpusPath("dialogue/dlg-11-2spk-stereo-call.wav");
const ready = canDecode("decoding of two channels", call);

const rate = 16_000;
const [leftTalks, rightTalks] = [
  [1, 6],
  [9, 22],
] as const;

/** Decodes a variant of the call and returns the samples of its tracks. */
async function decoded(name: string, making: readonly string[], withSecond = true) {
  using folder = new MediaFolder();
  const inputPath = folder.make(name, "-i", call, "-t", "25", ...making);
  const second = withSecond ? { secondOutputPath: folder.at("second.pcm") } : {};
  const result = await folder.decode(inputPath, { outputPath: folder.at("first.pcm"), ...second });
  const tracks = await Promise.all(result.paths.map(samplesOf));
  expect(tracks.map(({ length }) => length)).toEqual(tracks.map(() => result.sampleCount));
  expect(await folder.names()).toEqual([name, ...["first.pcm", "second.pcm"].slice(0, tracks.length)].sort());
  return tracks;
}

function loudnessIn(samples: Int16Array | undefined, [from, to]: readonly [number, number]): number {
  return loudness((samples ?? new Int16Array(0)).subarray(from * rate, to * rate));
}

const filter = (graph: string) => ["-filter_complex", graph];
/** Adds to each channel the echo of the other one, with a gain and a delay, through a filter. */
const echo = (gain: number, milliseconds: number, path: string) =>
  filter(
    "asplit[dry][wet]" +
      `;[wet]pan=stereo|c0=${gain}*c1|c1=${gain}*c0,adelay=${milliseconds}|${milliseconds},${path}[echo]` +
      ";[dry][echo]amix=normalize=0:duration=first",
  );

describe.if(ready)("a call with a channel for each party", () => {
  test.each([
    ["unchanged", "call.wav", ["-c", "copy"]],
    ["as MP3 in joint stereo", "call.mp3", ["-ar", "16000", "-b:a", "48k"]],
    ["as Opus", "call.ogg", ["-c:a", "libopus", "-b:a", "32k"]],
    ["with one party 18 dB quieter", "call.wav", filter("pan=stereo|c0=c0|c1=0.125*c1")],
  ])("%s is decoded to two tracks with one party each", async (_, name, making) => {
    const [first, second, ...more] = await decoded(name, making);
    expect(more).toEqual([]);
    expect(loudnessIn(first, leftTalks)).toBeGreaterThan(20 * loudnessIn(first, rightTalks));
    expect(loudnessIn(second, rightTalks)).toBeGreaterThan(20 * loudnessIn(second, leftTalks));
  });

  const telephone = "highpass=300,highpass=300,lowpass=3400,lowpass=3400";
  test.each([
    [0.17, 5, "anull"],
    [0.1, 100, "anull"],
    [0.1, 200, "anull"],
    [0.05, 400, "anull"],
    [0.1, 700, "anull"],
    [0.17, 900, "anull"],
    [0.1, 1000, "anull"],
    [0.1, 400, telephone],
    [0.1, 1000, telephone],
    [0.1, 900, "asetrate=7990,aresample=8000"],
  ])(
    "with echo of gain %p, %d ms late, is decoded without the echo and with its complete voices: %s",
    async (gain, milliseconds, path) => {
      const [first, second] = await decoded("call.wav", echo(gain, milliseconds, path));
      expect(loudnessIn(first, [9, 22])).toBeLessThan(1);
      expect(loudnessIn(second, [1, 6])).toBeLessThan(1);
      const clean = await decoded("call.wav", ["-c:a", "pcm_s16le"]);
      for (const [track, talks] of [
        [0, leftTalks],
        [1, rightTalks],
      ] as const) {
        const whole = loudnessIn(clean[track], talks);
        expect(Math.abs(loudnessIn([first, second][track], talks) - whole)).toBeLessThan(0.03 * whole);
      }
    },
  );

  test("is mixed if no second track is requested", async () => {
    const [mixed, ...more] = await decoded("call.wav", ["-c", "copy"], false);
    expect(more).toEqual([]);
    expect(loudnessIn(mixed, leftTalks)).toBeGreaterThan(0.3 * loudnessIn(mixed, rightTalks));
  });
});

describe.if(ready)("two channels that are one recording", () => {
  const both = "c0+c1";
  test.each([
    ["the same twice", `pan=stereo|c0=${both}|c1=${both}`],
    ["the same twice, once inverted", `pan=stereo|c0=${both}|c1=-1*c0-1*c1`],
    ["one of them silent", `pan=stereo|c0=${both}|c1=0*c0`],
    ["the other one silent", `pan=stereo|c0=0*c0|c1=${both}`],
    ["voices slightly panned to either side", "pan=stereo|c0=c0+0.6*c1|c1=0.6*c0+c1"],
    ["voices panned to either side in 5.1", "pan=5.1|FL=c0+0.1*c1|FR=0.1*c0+c1|FC=0*c0|LFE=0*c0|BL=0*c0|BR=0*c0"],
  ])("are decoded to one track with all voices: %s", async (_, pan) => {
    const [only, ...more] = await decoded("talk.wav", filter(pan));
    expect(more).toEqual([]);
    const [mono] = await decoded("mono.wav", filter("pan=mono|c0=0.5*c0+0.5*c1"));
    for (const talks of [leftTalks, rightTalks]) {
      expect(loudnessIn(only, talks)).toBeGreaterThan(0.4 * loudnessIn(mono, talks));
    }
  });
});
