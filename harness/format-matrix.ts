import { rm } from "node:fs/promises";
import { join } from "node:path";
import { decodeRecording, PCM_SAMPLE_RATE_HZ } from "../src/media/index.ts";
import { FFMPEG, MEDIA_TOOL, samplesOf } from "./media.ts";

/** A way to encode sound, and where it is stored. */
export interface Format {
  /** Name of ffmpeg's encoder. */
  readonly encoder: string;
  /** Containers by the ends of their files; `mpegts:ts` also names ffmpeg's muxer. */
  readonly containers: string;
  readonly rates: readonly number[];
  readonly channels: readonly number[];
  readonly options?: readonly string[];
  /** Whether only the ffmpeg of a Debian system has the encoder, and not the one that a checkout fetches. */
  readonly isOfDebian?: boolean;
  /** Least likeness to the original; speech codecs of a few kbit/s have a lower one. */
  readonly leastLikeness?: number;
}

const usual = [8000, 16_000, 44_100, 48_000];
const every = [8000, 11_025, 16_000, 22_050, 32_000, 44_100, 48_000, 96_000];
const disc = [32_000, 44_100, 48_000];
const [one, pair, surround] = [[1], [1, 2], [1, 2, 6]];
const experimental = ["-strict", "-2"];

/** Every encoder at hand whose codec the product decodes, in every container that takes it. */
export const formats: readonly Format[] = [
  {
    encoder: "aac",
    containers: "adts:aac m4a mp4 mov 3gp mkv mpegts:ts flv latm:loas",
    rates: every,
    channels: surround,
  },
  // AVI counts packets instead of telling times; ffmpeg's own files with AAC of low rates miscount them.
  { encoder: "aac", containers: "avi", rates: [44_100, 48_000], channels: surround },
  { encoder: "ac3", containers: "ac3 mpegts:ts mkv mp4 mpg vob avi", rates: disc, channels: surround },
  { encoder: "eac3", containers: "eac3 mpegts:ts mkv mp4", rates: disc, channels: surround },
  { encoder: "alac", containers: "m4a caf mkv", rates: every, channels: surround },
  { encoder: "flac", containers: "flac mkv ogg mp4", rates: every, channels: surround },
  {
    encoder: "mp2",
    containers: "mp2 mpegts:ts mpg mkv avi wav",
    rates: [16_000, 22_050, 24_000, ...disc],
    channels: pair,
  },
  {
    encoder: "libmp3lame",
    containers: "mp3 mkv avi mp4 flv mpegts:ts wav asf",
    rates: every.slice(0, 7),
    channels: pair,
  },
  { encoder: "libopus", containers: "opus webm mkv mp4 mpegts:ts", rates: [8000, 16_000, 48_000], channels: surround },
  { encoder: "libvorbis", containers: "ogg webm mkv", rates: every, channels: surround },
  { encoder: "wmav1", containers: "wma wav mkv", rates: every.slice(0, 7), channels: pair },
  { encoder: "wmav2", containers: "wma avi mkv", rates: every.slice(0, 7), channels: pair },
  { encoder: "wavpack", containers: "wv mkv", rates: every, channels: pair },
  { encoder: "tta", containers: "tta mkv", rates: every, channels: pair },
  {
    encoder: "truehd",
    containers: "truehd:thd mkv",
    rates: [44_100, 48_000, 96_000],
    channels: [2, 6],
    options: experimental,
  },
  { encoder: "mlp", containers: "mlp", rates: [44_100, 48_000, 96_000], channels: pair, options: experimental },
  {
    encoder: "dca",
    containers: "dts mpegts:ts mkv wav",
    rates: [8000, 16_000, ...disc],
    channels: [2, 6],
    options: experimental,
  },
  { encoder: "s302m", containers: "mpegts:ts", rates: [48_000], channels: [2], options: experimental },
  { encoder: "pcm_s16le", containers: "wav w64 avi mkv mov caf", rates: every, channels: surround },
  { encoder: "pcm_s16le", containers: "voc", rates: every, channels: pair },
  { encoder: "pcm_s16le", containers: "wav", rates: usual, channels: pair, options: ["-rf64", "always"] },
  { encoder: "pcm_s16le", containers: "mxf_opatom:mxf", rates: [48_000], channels: one },
  { encoder: "pcm_s16be", containers: "aiff au mov caf", rates: every, channels: surround },
  { encoder: "pcm_mulaw", containers: "wav au mov caf aiff voc", rates: every, channels: pair },
  { encoder: "pcm_alaw", containers: "wav au mov caf aiff voc", rates: every, channels: pair },
  { encoder: "pcm_mulaw", containers: "flv", rates: [8000], channels: one },
  { encoder: "pcm_u8", containers: "wav avi", rates: usual, channels: pair },
  // VOC rounds other rates of eight bits.
  { encoder: "pcm_u8", containers: "voc", rates: [8000], channels: pair },
  { encoder: "pcm_s8", containers: "aiff au", rates: usual, channels: pair },
  { encoder: "pcm_s24le", containers: "wav w64 mov mkv caf", rates: usual, channels: pair },
  { encoder: "pcm_s24be", containers: "aiff au mov caf", rates: usual, channels: pair },
  { encoder: "pcm_s32le", containers: "wav caf mkv", rates: usual, channels: pair },
  { encoder: "pcm_s32be", containers: "aiff au", rates: usual, channels: pair },
  { encoder: "pcm_f32le", containers: "wav mkv caf mov", rates: usual, channels: pair },
  { encoder: "pcm_f32be", containers: "aiff au mov", rates: usual, channels: pair },
  { encoder: "pcm_f64le", containers: "wav mkv", rates: usual, channels: pair },
  { encoder: "pcm_f64be", containers: "aiff au", rates: usual, channels: pair },
  { encoder: "pcm_bluray", containers: "mpegts:m2ts", rates: [48_000, 96_000], channels: surround },
  { encoder: "pcm_dvd", containers: "vob", rates: [48_000, 96_000], channels: surround },
  { encoder: "adpcm_ms", containers: "wav avi", rates: every, channels: pair },
  { encoder: "adpcm_ima_wav", containers: "wav avi", rates: every, channels: pair },
  { encoder: "adpcm_ima_qt", containers: "mov aiff caf", rates: usual, channels: pair },
  { encoder: "adpcm_swf", containers: "flv", rates: [11_025, 22_050, 44_100], channels: pair },
  { encoder: "adpcm_yamaha", containers: "wav", rates: usual, channels: pair },
  { encoder: "g722", containers: "wav", rates: [16_000], channels: one },
  { encoder: "g726", containers: "wav", rates: [8000], channels: one, leastLikeness: 0.9 },
  { encoder: "g723_1", containers: "wav", rates: [8000], channels: one, options: ["-b:a", "6300"], leastLikeness: 0.8 },
  {
    encoder: "nellymoser",
    containers: "flv",
    rates: [8000, 11_025, 16_000, 22_050, 44_100],
    channels: one,
    leastLikeness: 0.85,
  },
  { encoder: "real_144", containers: "rm", rates: [8000], channels: one, leastLikeness: 0.7 },
  { encoder: "libopencore_amrnb", containers: "amr 3gp mov", rates: [8000], channels: one, leastLikeness: 0.8 },
  { encoder: "libgsm_ms", containers: "wav avi", rates: [8000], channels: one, isOfDebian: true, leastLikeness: 0.85 },
  { encoder: "libgsm", containers: "gsm mov", rates: [8000], channels: one, isOfDebian: true, leastLikeness: 0.85 },
  ...["2", "4", "8", "10"].map((quality) => speex("spx", pair, ["-compression_level", quality])),
  speex("ogg", pair, ["-vbr", "1"]),
  speex("spx", one, ["-vbr", "1", "-frames_per_packet", "4", "-dtx", "1"]),
  speex("spx", one, ["-abr", "1", "-frames_per_packet", "5", "-vad", "1"]),
];

function speex(containers: string, channels: readonly number[], options: readonly string[]): Format {
  const rates = [8000, 16_000, 32_000];
  return { encoder: "libspeex", containers, rates, channels, options, isOfDebian: true, leastLikeness: 0.7 };
}

/** One file of the matrix. */
export interface FormatCase extends Pick<Format, "encoder" | "options" | "isOfDebian" | "leastLikeness"> {
  readonly muxer: string | null;
  readonly extension: string;
  readonly rate: number;
  readonly channelCount: number;
}

/** Returns the files of a format. */
export function casesOf({ containers, rates, channels, ...rest }: Format): FormatCase[] {
  return containers.split(" ").flatMap((container) => {
    const [muxer = null, extension = ""] = container.includes(":") ? container.split(":") : [null, container];
    return rates.flatMap((rate) => channels.map((channelCount) => ({ ...rest, muxer, extension, rate, channelCount })));
  });
}

/** Debian's ffmpeg, for codecs that the one of a checkout cannot encode. */
export const DEBIAN_FFMPEG = "/usr/bin/ffmpeg";

/** Filters that spread a voice over channels, as recorders do. */
const spread: Readonly<Record<number, string>> = {
  1: "anull",
  2: "pan=stereo|c0=c0|c1=0.6*c0",
  6: "pan=5.1|FL=0.3*c0|FR=0.3*c0|FC=c0|LFE=0*c0|BL=0.1*c0|BR=0.1*c0",
};

/** Writes a file of the matrix. @returns false if this container does not take the codec with this rate and channels */
export async function makeCase(one: FormatCase, source: string, path: string): Promise<boolean> {
  await rm(path, { force: true });
  const program = one.isOfDebian === true ? DEBIAN_FFMPEG : MEDIA_TOOL;
  const filters = `aresample=${one.rate},${spread[one.channelCount]}`;
  const end = await Bun.spawn(
    [
      ...[program, "-nostdin", "-v", "error", "-y", "-i", source, "-af", filters, "-ar", String(one.rate)],
      ...["-ac", String(one.channelCount), "-c:a", one.encoder, ...(one.options ?? [])],
      ...(one.extension === "m2ts" ? ["-mpegts_m2ts_mode", "1"] : []),
      ...[...(one.muxer === null ? [] : ["-f", one.muxer]), path],
    ],
    { stdout: "ignore", stderr: "ignore" },
  ).exited;
  return end === 0;
}

/** How much two recordings may differ in length or delay: two frames of a codec at 8 kHz, which encoders add. */
const MOST_SECONDS = 0.3;
/** Least likeness to what another decoder makes of the same file. */
const SAME = 0.97;

/**
 * Decodes a file of the matrix as the product does, and compares it with what a complete ffmpeg decodes and with the
 * original. @param folder of temporary files @returns what differs; null if nothing does
 */
export async function compareCase(
  one: FormatCase,
  path: string,
  original: Int16Array,
  folder: string,
): Promise<string | null> {
  const [ownPath, otherPath] = [join(folder, "own.pcm"), join(folder, "other.pcm")];
  const { damaged } = await decodeRecording({
    ffmpegPath: FFMPEG,
    inputPath: path,
    outputPath: ownPath,
    maxSeconds: 600,
  });
  const own = await samplesOf(ownPath);
  await decodeWithOther(one.isOfDebian === true ? DEBIAN_FFMPEG : MEDIA_TOOL, path, otherPath);
  const complaints = [
    damaged ? "it counts as damaged" : null,
    difference(own, await samplesOf(otherPath), SAME, "another ffmpeg's samples"),
    difference(own, original, one.leastLikeness ?? SAME, "the original"),
  ];
  return complaints.filter((complaint) => complaint !== null).join("; ") || null;
}

/** Decodes a file with a complete ffmpeg to the product's PCM. */
export async function decodeWithOther(program: string, path: string, output: string): Promise<void> {
  const raw = ["-map", "0:a:0", "-ac", "1", "-ar", String(PCM_SAMPLE_RATE_HZ), "-f", "s16le", output];
  await Bun.spawn([program, "-nostdin", "-v", "quiet", "-y", "-i", path, ...raw]).exited;
}

function difference(own: Int16Array, other: Int16Array, least: number, what: string): string | null {
  const seconds = (own.length - other.length) / PCM_SAMPLE_RATE_HZ;
  if (Math.abs(seconds) > MOST_SECONDS) return `${seconds.toFixed(2)} s longer than ${what}`;
  const alike = likeness(own, other);
  return alike < least ? `a likeness of ${alike.toFixed(3)} with ${what} instead of ${least}` : null;
}

/** Where a recording is searched in another one: the expected delay, and how far it may be from that, in samples. */
interface DelaySearch {
  readonly around?: number;
  readonly mostSamples?: number;
}

/** Steps of the first search for a delay; a voice correlates with itself over more samples. */
const COARSE_STEP = 4;

/** Returns the correlation of a recording with another one, which has it later by the delay that fits best. */
export function likeness(
  one: Int16Array,
  other: Int16Array,
  { around = 0, mostSamples = Math.round(MOST_SECONDS * PCM_SAMPLE_RATE_HZ) }: DelaySearch = {},
): number {
  const middle = Math.floor(one.length / 2);
  const near = (delay: number) => correlation(one, other, { delay, from: middle - 8000, to: middle + 8000, step: 16 });
  const coarse = bestDelay(near, around - mostSamples, around + mostSamples, COARSE_STEP);
  const delay = bestDelay(near, coarse - COARSE_STEP, coarse + COARSE_STEP, 1);
  return correlation(one, other, { delay, from: 0, to: one.length, step: 1 });
}

function bestDelay(score: (delay: number) => number, from: number, to: number, step: number): number {
  let best = { delay: from, value: Number.NEGATIVE_INFINITY };
  for (let delay = from; delay <= to; delay += step) {
    const value = score(delay);
    if (value > best.value) best = { delay, value };
  }
  return best.delay;
}

/** Returns the correlation of a part of a recording with the other one. What the other one lacks counts as silence. */
function correlation(
  one: Int16Array,
  other: Int16Array,
  { delay, from, to, step }: { delay: number; from: number; to: number; step: number },
): number {
  const [first, end] = [Math.max(from, 0), Math.min(to, one.length)];
  let own = 0;
  for (let at = first; at < end; at += step) own += (one[at] as number) ** 2;
  let both = 0;
  let others = 0;
  // Only samples that the other one has: reads beyond an array take most of the time.
  const lacking = Math.max(0, Math.ceil((-delay - first) / step));
  const endOfOther = Math.min(end, other.length - delay);
  for (let at = first + lacking * step; at < endOfOther; at += step) {
    const b = other[at + delay] as number;
    both += (one[at] as number) * b;
    others += b * b;
  }
  return own === 0 || others === 0 ? 0 : both / Math.sqrt(own * others);
}
