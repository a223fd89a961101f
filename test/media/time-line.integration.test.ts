import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { lavfi, makeWithFfmpeg } from "../../harness/media.ts";
import { PCM_SAMPLE_RATE_HZ } from "../../src/media/index.ts";
import { canDecode, MediaFolder } from "./media-folder.ts";
import { copyOf } from "./playback/copy-of.ts";

setDefaultTimeout(60_000);

const ready = canDecode("tests of media times");

/** Six seconds with a tone of 0.2 s at each odd second. */
const tones = lavfi("aevalsrc=if(between(mod(t\\,2)\\,1\\,1.2)\\,0.5*sin(3000*t)\\,0):d=6:s=48000");
const picture = lavfi("testsrc2=size=32x32:rate=25:duration=6");
const late = ["-itsoffset", "1.5"];
const h264 = ["-c:v", "libx264", "-preset", "ultrafast"];
const both = ["-map", "0:v", "-map", "1:a"];
const aac = ["-c:a", "aac"];

/** Returns the starts of the tones, in seconds. */
function onsets(samples: Int16Array): number[] {
  const found: number[] = [];
  let lastLoud = Number.NEGATIVE_INFINITY;
  for (const [index, sample] of samples.entries()) {
    if (Math.abs(sample) < 6000) continue;
    if (index - lastLoud > PCM_SAMPLE_RATE_HZ / 2) found.push(index / PCM_SAMPLE_RATE_HZ);
    lastLoud = index;
  }
  return found;
}

function expectAt(found: readonly number[], expected: readonly number[], tolerance: number): void {
  expect(found.length).toBe(expected.length);
  const errors = found.map((seconds, index) => Math.abs(seconds - (expected[index] ?? 0)));
  expect(Math.max(...errors)).toBeLessThan(tolerance);
}

interface Case {
  readonly what: string;
  /** Runs of ffmpeg, each with its output file as the last argument. */
  readonly made: readonly (readonly string[])[];
  /** The output files to concatenate; by default only the last one is used. */
  readonly joined?: readonly string[];
  readonly expected: readonly number[];
  readonly maxSeconds?: number;
}

async function check({ made, joined, expected, maxSeconds }: Case): Promise<void> {
  using folder = new MediaFolder();
  const inside = (argument: string) => argument.replace("@", `${folder.path}/`);
  for (const args of made) makeWithFfmpeg(...args.map(inside));
  let path = inside(made.at(-1)?.at(-1) ?? "");
  if (joined !== undefined) {
    const parts = joined.map((name) => Bun.file(inside(name)).bytes());
    path = await folder.write("joined", Buffer.concat(await Promise.all(parts)));
  }
  const heard = await copyOf(path, folder, maxSeconds);
  const found = onsets(heard.decoded);
  // Files that were concatenated by hand contain the pre-roll and padding of each codec.
  const tolerance = joined === undefined ? 0.025 : 0.1;
  expectAt(found, expected, tolerance);
  // The playback copy has the same times.
  expectAt(onsets(heard.copied), found, 0.025);
}

const dropped = (from: number, to: number) => [
  "-c",
  "copy",
  "-bsf:a",
  `noise=drop='gte(pts*tb,${from})*lt(pts*tb,${to})'`,
];
const jump = (at: number, by: number) => ["-c", "copy", "-bsf:a", `setts=ts='if(gte(TS*TB,${at}),TS+${by}/TB,TS)'`];
const opus = ["-c:a", "libopus"];

describe.if(ready)("audio from the file's beginning starts at 0, whatever pre-roll the codec has", () => {
  test.each([
    ["m4a", aac],
    ["mp3", ["-c:a", "libmp3lame"]],
    ["opus", opus],
    ["webm", opus],
    ["ogg", ["-c:a", "libvorbis"]],
    ["flac", ["-c:a", "flac"]],
  ])("%s", async (format, codec) => {
    await check({ what: format, made: [[...tones, ...codec, `@a.${format}`]], expected: [1, 3, 5] });
  });
});

describe.if(ready)("audio that begins after the picture is as late as in a player", () => {
  test.each(["mkv", "mp4", "mov", "ts", "flv"])("%s", async (format) => {
    const made = [[...picture, ...late, ...tones, ...both, ...h264, ...aac, "-ar", "44100", `@a.${format}`]];
    await check({ what: format, made, expected: [2.5, 4.5, 6.5] });
  });

  test("an edit list of fragments", async () => {
    const form = ["-movflags", "frag_keyframe+empty_moov"];
    const made = [[...picture, ...late, ...tones, ...both, ...h264, ...aac, ...form, "@a.mp4"]];
    await check({ what: "fragments", made, expected: [2.5, 4.5, 6.5] });
  });
});

/** Audio that begins 20 s after the picture: later than ffmpeg looks by itself. */
const longAfter: readonly (readonly [format: string, picture: string, audio: string])[] = [
  ["mkv", "libx264", "libopus"],
  ["webm", "libvpx", "libvorbis"],
  ["mp4", "libx264", "aac"],
  ["mov", "mjpeg", "pcm_s16le"],
  ["3gp", "h263", "libopencore_amrnb"],
  ["ts", "libx264", "aac"],
  ["ts", "mpeg2video", "ac3"],
  ["flv", "flv", "libmp3lame"],
  ["mpg", "mpeg1video", "mp2"],
  ["vob", "mpeg2video", "ac3"],
  ["wmv", "msmpeg4", "wmav2"],
  ["ogv", "libtheora", "libvorbis"],
];

describe.if(ready)("audio that begins long after the picture", () => {
  const long = lavfi("color=size=128x96:rate=25:duration=26");
  test.each(longAfter)("%s with %s and %s", async (format, picture, audio) => {
    const rate = { libopencore_amrnb: "8000", libopus: "48000" }[audio] ?? "44100";
    // VP8 takes seconds for a picture that nobody sees.
    const effort = picture === "libvpx" ? ["-deadline", "realtime", "-cpu-used", "8", "-r", "5"] : [];
    const codecs = ["-c:v", picture, ...effort, "-c:a", audio, "-ar", rate];
    // Either track may be the first one.
    for (const order of [both, both.toSpliced(0, 4, "-map", "1:a", "-map", "0:v")]) {
      const made = [[...long, "-itsoffset", "20", ...tones, ...order, ...codecs, `@a.${format}`]];
      await check({ what: format, made, expected: [21, 23, 25] });
    }
  });

  test("is not taken for damage, although Windows Media declares twice its delay", async () => {
    using folder = new MediaFolder();
    const codecs = ["-c:v", "msmpeg4", "-c:a", "wmav2"];
    const path = folder.make("a.wmv", ...long, "-itsoffset", "20", ...tones, ...both, ...codecs);
    expect((await folder.decode(path)).damaged).toBe(false);
  });
});

const elsewhere: readonly Case[] = [
  {
    what: "the second of two audio tracks is the default and begins later",
    made: [
      [
        ...[...tones, "-itsoffset", "7", ...tones, "-map", "0:a", "-map", "1:a", ...aac],
        ...["-disposition:a:0", "0", "-disposition:a:1", "default", "@a.mkv"],
      ],
    ],
    expected: [8, 10, 12],
  },
  {
    what: "the picture begins after the audio",
    made: [[...late, ...picture, ...tones, ...both, ...h264, ...aac, "@a.mkv"]],
    expected: [1, 3, 5],
  },
  {
    what: "a transport stream starts at ten hours",
    made: [[...picture, ...tones, ...both, ...h264, ...aac, "-muxdelay", "0", "-output_ts_offset", "36000", "@a.ts"]],
    expected: [1, 3, 5],
  },
  {
    what: "fragments were cut out of a broadcast",
    made: [[...tones, ...aac, "-output_ts_offset", "7200", "-movflags", "frag_keyframe+empty_moov", "@a.mp4"]],
    expected: [1, 3, 5],
  },
  {
    what: "a copy from the middle has an edit list that hides its beginning",
    made: [
      [...picture, ...tones, ...both, ...h264, "-g", "100", ...aac, "@whole.mp4"],
      ["-ss", "2.3", "-i", "@whole.mp4", "-c", "copy", "@cut.mp4"],
    ],
    expected: [0.7, 2.7],
  },
];

const gaps: readonly Case[] = [
  ...["webm", "mkv", "opus"].map((format) => ({
    what: `packets are missing in ${format}`,
    made: [
      [...tones, ...opus, "@whole.mkv"],
      ["-i", "@whole.mkv", ...dropped(2, 4), `@a.${format}`],
    ],
    expected: [1, 5],
  })),
  ...["mp4", "ts"].map((format) => ({
    what: `packets are missing in ${format}`,
    made: [
      [...picture, ...tones, ...both, ...h264, ...aac, "@a.mkv"],
      ["-i", "@a.mkv", ...dropped(2, 4), `@a.${format}`],
    ],
    expected: [1, 5],
  })),
  ...["webm", "mp4"].map((format) => ({
    what: `a recorder omits short silences in ${format}`,
    made: [
      [...tones, ...opus, "@whole.mkv"],
      ["-i", "@whole.mkv", "-c", "copy", "-bsf:a", "noise=drop='between(mod(pts*tb,1),0.4,0.7)'", `@a.${format}`],
    ],
    expected: [1, 3, 5],
  })),
  ...["webm", "ts"].map((format) => ({
    what: `a pause of half a minute is omitted in ${format}`,
    made: [
      [...tones, ...(format === "ts" ? aac : opus), `@a.${format}`],
      ["-i", `@a.${format}`, ...jump(2, 30), `@b.${format}`],
    ],
    expected: [1, 33, 35],
  })),
];

const jumps: readonly Case[] = [
  {
    what: "twenty hours later",
    made: [
      [...tones, ...opus, "@a.webm"],
      ["-i", "@a.webm", ...jump(2, 72_000), "@b.webm"],
    ],
    expected: [1, 3, 5],
    maxSeconds: 100_000,
  },
  {
    what: "beyond the longest accepted recording",
    made: [
      [...tones, ...opus, "@a.webm"],
      ["-i", "@a.webm", ...jump(2, 1000), "@b.webm"],
    ],
    expected: [1, 3, 5],
  },
  ...["mp3", "ts", "opus", "webm"].map((format) => ({
    what: `back to the beginning in joined ${format}`,
    made: [[...tones, "-c:a", { mp3: "libmp3lame", ts: "aac" }[format] ?? "libopus", `@a.${format}`]],
    joined: [`@a.${format}`, `@a.${format}`],
    expected: [1, 3, 5, 7, 9, 11],
  })),
];

describe.if(ready)("times match a player's when", () => {
  test.each([...elsewhere, ...gaps])("$what", check);
});

/** Rewrites the two edits of an MP4 file whose audio begins late. Both clocks in it count samples. */
function setEdits(bytes: Buffer, ...edits: readonly (readonly [seconds: number, start: number])[]): void {
  // Of the two tracks' lists, that of the audio is the last one.
  const list = bytes.lastIndexOf("elst") + 8;
  expect(bytes.readUInt32BE(list)).toBe(edits.length);
  for (const [index, [seconds, start]] of edits.entries()) {
    bytes.writeUInt32BE(seconds * 48_000, list + 4 + index * 12);
    bytes.writeInt32BE(start * 48_000, list + 8 + index * 12);
  }
}

test.if(ready)("a phone's trimmed recording, in which edits leave out its middle, is as long as it plays", async () => {
  using folder = new MediaFolder();
  const path = folder.make("a.mp4", ...picture, ...late, ...tones, ...both, ...h264, ...aac, "-ar", "48000");
  // Of the audio's six seconds, the one after the second tone is left out.
  await folder.change(path, (bytes) => setEdits(bytes, [3.5, 0], [1.5, 4.5]));
  const { decoded: samples, copied } = await copyOf(path, folder);
  for (const heard of [samples, copied]) expectAt(onsets(heard), [1, 3, 4], 0.05);
  expect(samples.length / PCM_SAMPLE_RATE_HZ).toBeCloseTo(5, 1);
});

describe.if(ready)("no audio is lost and no silence inserted when the clock jumps", () => {
  test.each(jumps)("$what", check);
});

test.if(ready)(
  "the longest pause that is believed costs no memory that ffmpeg may not have, in six channels either",
  async () => {
    using folder = new MediaFolder();
    const six = lavfi("aevalsrc=sin(300*t)|sin(400*t)|sin(500*t)|sin(600*t)|sin(700*t)|sin(800*t):d=4:s=48000:c=5.1");
    const whole = folder.make("a.webm", ...six, ...opus, "-b:a", "192k");
    const path = folder.make("b.webm", "-i", whole, ...jump(2, 3590));
    const { sampleCount } = await folder.decode(path, { maxSeconds: 4000 });
    expect(sampleCount / PCM_SAMPLE_RATE_HZ).toBeCloseTo(3594, 0);
  },
);

describe.if(ready)("inexact time stamps", () => {
  test("insert no silence between words if they only jitter", async () => {
    using folder = new MediaFolder();
    const steady = folder.make("steady.webm", ...tones, ...opus);
    const jitter = ["-c", "copy", "-bsf:a", "setts=ts='TS+round(40*sin(N))'"];
    const wavering = folder.make("wavering.webm", "-i", steady, ...jitter);
    const expected = (await folder.decode(steady)).sampleCount;
    const difference = (await folder.decode(wavering)).sampleCount - expected;
    expect(Math.abs(difference)).toBeLessThan(PCM_SAMPLE_RATE_HZ / 20);
  });

  test("delay the audio only once if its format changes later", async () => {
    const first = [...picture, ...late, ...tones, ...both, ...h264, ...aac, "-ar", "44100", "@first.ts"];
    const second = [...picture, ...tones, ...both, ...h264, ...aac, "-ac", "2", "-ar", "48000", "@second.ts"];
    const expected = [2.5, 4.5, 6.5, 8.5, 10.5, 12.5];
    await check({ what: "mono, then stereo", made: [first, second], joined: ["@first.ts", "@second.ts"], expected });
  });
});
