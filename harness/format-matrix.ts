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
  format("aac", "adts:aac m4a mp4 mov 3gp mkv mpegts:ts flv latm:loas", every, surround),
  // AVI counts packets instead of telling times; ffmpeg's own files with AAC of low rates miscount them.
  format("aac", "avi", [44_100, 48_000], surround),
  format("ac3", "ac3 mpegts:ts mkv mp4 mpg vob avi", disc, surround),
  format("eac3", "eac3 mpegts:ts mkv mp4", disc, surround),
  format("alac", "m4a caf mkv", every, surround),
  format("flac", "flac mkv ogg mp4", every, surround),
  format("mp2", "mp2 mpegts:ts mpg mkv avi wav", [16_000, 22_050, 24_000, ...disc], pair),
  format("libmp3lame", "mp3 mkv avi mp4 flv mpegts:ts wav asf", every.slice(0, 7), pair),
  format("libopus", "opus webm mkv mp4 mpegts:ts", [8000, 16_000, 48_000], surround),
  format("libvorbis", "ogg webm mkv", every, surround),
  format("wmav1", "wma wav mkv", every.slice(0, 7), pair),
  format("wmav2", "wma avi mkv", every.slice(0, 7), pair),
  format("wavpack", "wv mkv", every, pair),
  format("tta", "tta mkv", every, pair),
  format("truehd", "truehd:thd mkv", [44_100, 48_000, 96_000], [2, 6], { options: experimental }),
  format("mlp", "mlp", [44_100, 48_000, 96_000], pair, { options: experimental }),
  format("dca", "dts mpegts:ts mkv wav", [8000, 16_000, ...disc], [2, 6], { options: experimental }),
  format("s302m", "mpegts:ts", [48_000], [2], { options: experimental }),
  format("pcm_s16le", "wav w64 avi mkv mov caf", every, surround),
  format("pcm_s16le", "voc", every, pair),
  format("pcm_s16le", "wav", usual, pair, { options: ["-rf64", "always"] }),
  format("pcm_s16le", "mxf_opatom:mxf", [48_000], one),
  format("pcm_s16be", "aiff au mov caf", every, surround),
  format("pcm_mulaw", "wav au mov caf aiff voc", every, pair),
  format("pcm_alaw", "wav au mov caf aiff voc", every, pair),
  format("pcm_mulaw", "flv", [8000], one),
  format("pcm_u8", "wav avi", usual, pair),
  // VOC rounds other rates of eight bits.
  format("pcm_u8", "voc", [8000], pair),
  format("pcm_s8", "aiff au", usual, pair),
  format("pcm_s24le", "wav w64 mov mkv caf", usual, pair),
  format("pcm_s24be", "aiff au mov caf", usual, pair),
  format("pcm_s32le", "wav caf mkv", usual, pair),
  format("pcm_s32be", "aiff au", usual, pair),
  format("pcm_f32le", "wav mkv caf mov", usual, pair),
  format("pcm_f32be", "aiff au mov", usual, pair),
  format("pcm_f64le", "wav mkv", usual, pair),
  format("pcm_f64be", "aiff au", usual, pair),
  format("pcm_bluray", "mpegts:m2ts", [48_000, 96_000], surround),
  format("pcm_dvd", "vob", [48_000, 96_000], surround),
  format("adpcm_ms", "wav avi", every, pair),
  format("adpcm_ima_wav", "wav avi", every, pair),
  format("adpcm_ima_qt", "mov aiff caf", usual, pair),
  format("adpcm_swf", "flv", [11_025, 22_050, 44_100], pair),
  format("adpcm_yamaha", "wav", usual, pair),
  format("g722", "wav", [16_000], one),
  format("g726", "wav", [8000], one, { leastLikeness: 0.9 }),
  format("g723_1", "wav", [8000], one, { options: ["-b:a", "6300"], leastLikeness: 0.8 }),
  format("nellymoser", "flv", [8000, 11_025, 16_000, 22_050, 44_100], one, { leastLikeness: 0.85 }),
  format("real_144", "rm", [8000], one, { leastLikeness: 0.7 }),
  format("libopencore_amrnb", "amr 3gp mov", [8000], one, { leastLikeness: 0.8 }),
  format("libgsm_ms", "wav avi", [8000], one, { isOfDebian: true, leastLikeness: 0.85 }),
  format("libgsm", "gsm mov", [8000], one, { isOfDebian: true, leastLikeness: 0.85 }),
  ...["2", "4", "8", "10"].map((quality) => speex("spx", pair, ["-compression_level", quality])),
  speex("ogg", pair, ["-vbr", "1"]),
  speex("spx", one, ["-vbr", "1", "-frames_per_packet", "4", "-dtx", "1"]),
  speex("spx", one, ["-abr", "1", "-frames_per_packet", "5", "-vad", "1"]),
];

function format(
  encoder: string,
  containers: string,
  rates: readonly number[],
  channels: readonly number[],
  more: Omit<Format, "encoder" | "containers" | "rates" | "channels"> = {},
): Format {
  return { encoder, containers, rates, channels, ...more };
}

function speex(containers: string, channels: readonly number[], options: readonly string[]): Format {
  return format("libspeex", containers, [8000, 16_000, 32_000], channels, {
    ...{ options, isOfDebian: true, leastLikeness: 0.7 },
  });
}

export interface FormatCase extends Pick<Format, "encoder" | "options" | "isOfDebian" | "leastLikeness"> {
  readonly muxer: string | null;
  readonly extension: string;
  readonly rate: number;
  readonly channelCount: number;
}

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
