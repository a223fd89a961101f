import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { fakeFfmpeg, lavfi, loudness } from "../../harness/media.ts";
import { chooseTrack } from "../../src/media/choose-track.ts";
import { PCM_SAMPLE_RATE_HZ } from "../../src/media/index.ts";
import type { AudioTrack } from "../../src/media/probe.ts";
import { canDecode, MediaFolder } from "./media-folder.ts";
import { copyOf } from "./playback/copy-of.ts";

setDefaultTimeout(60_000);

const SECONDS = 8;
const of = (expression: string) => lavfi(`aevalsrc=${expression}:s=16000:d=${SECONDS}`);
/** Words of half a second with pauses, like speech; `from` is the second of the first one. */
const words = (amplitude: number, from = 0) =>
  of(`${amplitude}*sin(1500*t)*between(mod(t\\,1)\\,0\\,0.5)*gte(t\\,${from})+0.0005*sin(7000*t)`);
const silence = of("0");
const hiss = (amplitude: number) => lavfi(`anoisesrc=a=${amplitude}:r=16000:d=${SECONDS}:seed=1`);
const hum = of("0.1*sin(314*t)");
const speech = words(0.3);
const voice = "0.3*sin(1500*t)*between(mod(t\\,1)\\,0\\,0.5)";
const inverse = lavfi(`aevalsrc=${voice}|-${voice}:s=16000:d=${SECONDS}`);

/** Options that take the first track of two inputs. */
const both = ["-map", "0", "-map", "1"];

/** Decodes a file with these tracks, in their order. */
async function chosenOf(
  tracks: readonly (readonly string[])[],
  { extension = "mkv", encoder = "libopus", options = [] as readonly string[], maxSeconds = 600 } = {},
) {
  using folder = new MediaFolder();
  const maps = tracks.flatMap((_, index) => ["-map", String(index)]);
  const path = folder.make(`tracks.${extension}`, ...tracks.flat(), ...maps, "-c:a", encoder, ...options);
  return await folder.decode(path, { maxSeconds });
}

describe.if(canDecode("tests of tracks"))("of several audio tracks", () => {
  test.each<[string, string[][], number, Parameters<typeof chosenOf>[1]?]>([
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
    ["the first one, although its channels cancel each other in a mix", [inverse, speech], 0, { encoder: "flac" }],
    ["the first one, although another one is longer", [speech, lavfi("aevalsrc=0:s=16000:d=60")], 0],
    [
      "none after those that take as long as the longest accepted recording",
      [silence, silence, silence, speech],
      0,
      { encoder: "flac", maxSeconds: 2 * SECONDS },
    ],
  ])("%s is transcribed", async (_, tracks, chosen, options = {}) => {
    const decoded = await chosenOf(tracks, options);
    expect(decoded).toMatchObject({ trackIndex: chosen, trackCount: tracks.length, damaged: false });
  });

  test.each([
    ["mp4", "aac"],
    ["mov", "pcm_s16le"],
    ["ts", "aac"],
    ["mka", "flac"],
    ["avi", "pcm_s16le"],
    ["wma", "wmav2"],
  ])("the one with sound is found in %s", async (extension, encoder) => {
    const decoded = await chosenOf([silence, speech], { extension, encoder });
    expect(decoded).toMatchObject({ trackIndex: 1, trackCount: 2 });
  });

  test("the one that is marked as the default is preferred, unless it is silent", async () => {
    const options = ["-disposition:a:0", "0", "-disposition:a:1", "default", "-metadata:s:a:1", "language=ger"];
    expect(await chosenOf([speech, words(0.2)], { options })).toMatchObject({ trackIndex: 1 });
    expect(await chosenOf([speech, silence], { options })).toMatchObject({ trackIndex: 0 });
  });

  test("two channels of the chosen one are two parties of a call", async () => {
    using folder = new MediaFolder();
    const [left, right] = ["between(mod(t\\,2)\\,0\\,0.8)", "between(mod(t\\,2)\\,1\\,1.8)"];
    const call = lavfi(`aevalsrc=0.3*sin(1500*t)*${left}|0.3*sin(2500*t)*${right}:s=16000:d=${SECONDS}`);
    const path = folder.make("call.mkv", ...silence, ...call, ...both, "-c:a", "flac");
    const decoded = await folder.decode(path, { secondOutputPath: folder.at("second.pcm") });
    expect([decoded.trackIndex, decoded.paths.length]).toEqual([1, 2]);
  });

  test.each([
    ["Matroska", "mkv", "libopus", "A_OPUS", "A_NONE"],
    ["Matroska, of a kind of AAC that nobody has", "mkv", "aac", "A_AAC", "A_AAX"],
    ["QuickTime", "mov", "alac", "alac", "none"],
  ])("one without a decoder does not hide the next one, in %s", async (_, extension, encoder, before, after) => {
    using folder = new MediaFolder();
    const path = folder.make(`tracks.${extension}`, ...words(0.3), ...speech, ...both, "-c:a", encoder);
    await folder.change(path, (bytes) => bytes.write(after, bytes.indexOf(before), "latin1"));
    const { decoded, copied } = await copyOf(path, folder);
    for (const samples of [decoded, copied]) {
      expect(samples.length / PCM_SAMPLE_RATE_HZ).toBeCloseTo(SECONDS, 0);
      expect(loudness(samples)).toBeGreaterThan(1000);
    }
  });

  test("the playback copy is that of the chosen track", async () => {
    using folder = new MediaFolder();
    const path = folder.make("tracks.mp4", ...silence, ...speech, ...both, "-c:a", "aac");
    const { copied } = await copyOf(path, folder);
    expect(loudness(copied)).toBeGreaterThan(1000);
  });

  test("the chosen one declares its own length, however short the first one is", async () => {
    const tone = "aevalsrc=0.3*sin(1500*t)*between(mod(t\\,1)\\,0\\,0.5):s=8000:d=700";
    const decoded = await chosenOf([silence, lavfi(tone)], { encoder: "pcm_s16le", maxSeconds: 900 });
    expect(decoded.trackIndex).toBe(1);
    expect(decoded.declaredSeconds).toBeWithin(699, 702);
  });

  test("many that take long to decode are not all searched", async () => {
    using folder = new MediaFolder();
    const ffmpegPath = await fakeFfmpeg(folder.path, "sleep 0.5");
    const path = await folder.write("tracks.mkv", "tracks");
    const track = (index: number): AudioTrack => ({ index, channels: 1, channelLayout: "mono" });
    const [first, ...others] = Array.from({ length: 32 }, (_, index) => track(index));
    if (first === undefined) throw new Error("there are no tracks");
    const lengths = { durationSeconds: 600, containerSeconds: 600, durationIsEstimate: false };
    const since = performance.now();
    const probed = { ok: true, ...lengths, tracks: [first, ...others], trackCount: 32 } as const;
    expect(await chooseTrack({ ffmpegPath, inputPath: path, maxSeconds: 15 }, probed)).toEqual(first);
    expect(performance.now() - since).toBeLessThan(10_000);
  });
});
