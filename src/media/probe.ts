import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { EXIT_OUT_OF_MEMORY, inputArguments, type TrackChannels } from "./ffmpeg-arguments.ts";
import { listedSeconds } from "./listed-seconds.ts";
import { MediaError } from "./media-error.ts";
import { type FfmpegEnd, type InputFile, runFfmpeg } from "./run-ffmpeg.ts";

/** An audio track of a recording. */
export interface AudioTrack extends TrackChannels {
  /** Its number among the file's audio tracks, from 0. */
  readonly index: number;
}

/** A file with at least one audio track. */
export interface ProbedRecording {
  readonly ok: true;
  /**
   * Duration according to the container, and not more than that of the first track's packets; null if it gives none. The
   * decoded length may differ.
   */
  readonly durationSeconds: number | null;
  /** Duration according to the container alone. */
  readonly containerSeconds: number | null;
  /** True if ffmpeg only extrapolated the duration from the bit rate, which does not suffice to refuse a file. */
  readonly durationIsEstimate: boolean;
  /** The audio tracks with a known format: first the one that is marked as the default, then in the order of the file. */
  readonly tracks: readonly [AudioTrack, ...AudioTrack[]];
  /** Number of all audio tracks, at least that of `tracks`. */
  readonly trackCount: number;
}

/** A file that is no recording. The reason is a sentence for the client and quotes nothing from the file. */
interface RefusedRecording {
  readonly ok: false;
  readonly reason: string;
}

/** Limits of one probe. */
interface ProbeEffort {
  /** Limit of CPU time. A file that exceeds it is refused. */
  readonly cpuSeconds: number;
  /** Wall-clock limit. A run that exceeds it is a fault of the machine, which gave the process too little CPU time. */
  readonly timeoutSeconds: number;
}

// ffmpeg reads headers in some 20 ms; a file that takes 10 s of CPU time is crafted to do so. The wall-clock limit is
// higher, for a machine whose cores are all busy with transcription.
const PROBE_EFFORT: ProbeEffort = { cpuSeconds: 10, timeoutSeconds: 60 };

const REFUSAL = {
  empty: "The file is empty.",
  unreadable: "The file is not an audio or video recording that can be read.",
  playlist: "The file is a playlist or a list of other files. Send the recording itself.",
  silent: "The file has no audio track.",
  costly: "The file takes too much work to examine; it is damaged or not a recording.",
  large: "The file takes too much memory to examine; it is damaged or not a recording.",
} as const;

/**
 * Searches a stored file's container header and index for an audio track, without decoding the file. A file that is no
 * recording is refused with a reason.
 * @throws {MediaError} `ffmpeg_unusable`, `ffmpeg_timed_out` or `input_unreadable`, when the fault is not the file's
 * @throws the signal's reason after an abort
 */
export async function probeRecording(
  ffmpegPath: string,
  inputPath: string,
  signal?: AbortSignal,
  effort = PROBE_EFFORT,
): Promise<ProbedRecording | RefusedRecording> {
  const file = { ffmpegPath, inputPath, signal };
  const sizeBytes = await sizeOf(inputPath);
  if (sizeBytes === 0) return refused("empty");
  const end = await describe(file, "0:a", effort);
  const description = parseInputDescription(end.messages);
  let found = parseTracks(end.output);
  // One track that ffmpeg cannot describe makes the header of all tracks unusable.
  const separately = found.length > 0 || isStopped(end) ? 0 : Math.min(description.trackCount, MOST_SEPARATE_PROBES);
  for (let index = 0; separately > 1 && index < separately; index++) {
    const own = await describe(file, `0:a:${index}`, effort);
    if (isStopped(own)) return refused("costly");
    found = [...found, ...parseTracks(own.output).map((track) => ({ ...track, index }))];
  }
  if (isStopped(end)) return refused("costly");
  const isDefault = ({ index }: AudioTrack) => index === description.defaultTrack;
  const [first, ...others] = [...found.filter(isDefault), ...found.filter((track) => !isDefault(track))];
  if (first !== undefined) {
    const { durationIsEstimate, durationSeconds: containerSeconds } = description;
    let durationSeconds = containerSeconds;
    if (durationSeconds !== null && !durationIsEstimate && isDoubtful(durationSeconds, description, sizeBytes)) {
      const seconds = await listedSeconds(file, first.index);
      if (seconds !== null) durationSeconds = Math.min(durationSeconds, seconds);
    }
    const trackCount = Math.max(description.trackCount, found.length);
    const lengths = { durationSeconds, containerSeconds, durationIsEstimate };
    return { ok: true, ...lengths, tracks: [first, ...others], trackCount };
  }
  if (await isWaveWithoutSamples(inputPath)) {
    const tracks = [{ index: 0, channels: null, channelLayout: "" }] as const;
    const lengths = { durationSeconds: 0, containerSeconds: 0, durationIsEstimate: false };
    return { ok: true, ...lengths, tracks, trackCount: 1 };
  }
  if (await looksLikePlaylist(inputPath)) return refused("playlist");
  if (end.exitCode === EXIT_OUT_OF_MEMORY) return refused("large");
  return refused(/^Input #0, /m.test(end.messages) && description.trackCount === 0 ? "silent" : "unreadable");
}

/**
 * Returns the duration of a track, of which the others may be longer or shorter: that of the container, and not more than
 * that of the track's packets; null if the container gives none.
 */
export async function secondsOfTrack(
  file: InputFile,
  { tracks, durationSeconds, containerSeconds, durationIsEstimate }: ProbedRecording,
  { index }: AudioTrack,
): Promise<number | null> {
  if (tracks.length === 1 || containerSeconds === null || durationIsEstimate) return durationSeconds;
  const seconds = await listedSeconds(file, index);
  return Math.min(containerSeconds, seconds ?? containerSeconds);
}

/**
 * Claimed lengths from which they are compared with the packets: of a file with other tracks, such as a picture, and of any
 * file. Below, a false length costs an account or the disk little.
 */
const LONG_SECONDS_OF_SEVERAL = 600;
const LONG_SECONDS = 6 * 3600;
/** Byte rate below which the claimed length is compared with the packets: that of the lowest rate of MP3. */
const LOW_BYTES_PER_SECOND = 1000;
/** Start of the container's clock from which its length may be that of the clock. */
const LATE_START_SECONDS = 60;

/**
 * Returns whether the length that a container claims may be that of something else: of a clock that began before the
 * recording, of a picture or another track, or a number that a writer put in because it did not know the length.
 */
function isDoubtful(seconds: number, { startSeconds, streamCount }: InputDescription, sizeBytes: number): boolean {
  const isThin = seconds * LOW_BYTES_PER_SECOND > sizeBytes;
  const isLong = seconds > (streamCount > 1 ? LONG_SECONDS_OF_SEVERAL : LONG_SECONDS);
  return isThin || isLong || startSeconds > LATE_START_SECONDS;
}

type InputDescription = ReturnType<typeof parseInputDescription>;

/** Most tracks that are described one by one. */
const MOST_SEPARATE_PROBES = 8;

function isStopped({ flooded, signalName }: FfmpegEnd): boolean {
  return flooded || signalName !== null;
}

async function sizeOf(path: string): Promise<number> {
  try {
    await access(path, constants.R_OK);
    const found = await stat(path);
    if (found.isFile()) return found.size;
  } catch (cause) {
    throw new MediaError("input_unreadable", "the stored recording can't be read", { cause });
  }
  throw new MediaError("input_unreadable", "the stored recording is not a file");
}

/** Runs ffmpeg on a stream copy of zero packets. ffmpeg then opens the input, writes the output's header and exits. */
function describe(file: InputFile, map: string, effort: ProbeEffort): Promise<FfmpegEnd> {
  const toNothing = ["-map", map, "-c", "copy", "-frames:a", "0", "-f", "framecrc", "pipe:1"];
  return runFfmpeg({ ...file, ...effort, arguments: [...inputArguments(file.inputPath), ...toNothing] });
}

const PLAYLIST_START = /^\s*(?:#EXTM3U|\[playlist\]|\[Reference\]|ffconcat version|<\?xml|<asx|<smil|<MPD|<playlist)/i;

async function looksLikePlaylist(path: string): Promise<boolean> {
  const text = await Bun.file(path).slice(0, 512).text();
  return PLAYLIST_START.test(text.replace(/^\uFEFF/, ""));
}

function refused(why: keyof typeof REFUSAL): RefusedRecording {
  return { ok: false, reason: REFUSAL[why] };
}

const EXAMINED_BYTES = 64 * 1024;

/**
 * Returns whether a file is the beginning of a WAVE recording without samples: it has a complete `fmt ` chunk with at
 * least one channel, but no sample data. Recorders that lose power leave these files, and ffmpeg refuses them.
 *
 * Layout: RIFF, "Multimedia Programming Interface and Data Specifications 1.0"; RF64, EBU Tech 3306.
 */
async function isWaveWithoutSamples(path: string): Promise<boolean> {
  const head = Buffer.from(await Bun.file(path).slice(0, EXAMINED_BYTES).arrayBuffer());
  const form = head.toString("latin1", 0, 4);
  if ((form !== "RIFF" && form !== "RF64") || head.toString("latin1", 8, 12) !== "WAVE") return false;
  let formatSeen = false;
  for (let at = 12; at + 8 <= head.length; ) {
    const id = head.toString("latin1", at, at + 4);
    const size = head.readUInt32LE(at + 4);
    const body = at + 8;
    if (id === "fmt ") {
      if (size < 16 || body + 16 > head.length) return false;
      formatSeen = head.readUInt16LE(body + 2) > 0 && head.readUInt32LE(body + 4) > 0;
    }
    if (id === "data") return formatSeen && body >= head.length;
    at = body + size + (size % 2);
  }
  // The file ended, or its last chunk extends past the end, before any sample data. Longer files are not examined.
  return formatSeen && head.length < EXAMINED_BYTES;
}

/**
 * Reads the audio tracks and their channel layouts as ffmpeg names them: `mono`, `stereo`, `5.1(side)`, `3 channels`. The
 * source is the header that ffmpeg's framecrc muxer writes for stream copies. Tracks without a known codec are left out.
 *
 * The header holds no metadata of the file, unlike the description on standard error, where a tag's name may contain
 * line breaks and imitate a stream.
 */
function parseTracks(framecrcHeader: string): AudioTrack[] {
  const layouts = headerValues(framecrcHeader, "channel_layout_name");
  const codecs = headerValues(framecrcHeader, "codec_id");
  return [...headerValues(framecrcHeader, "sample_rate")]
    .filter(([, rate]) => Number.isSafeInteger(Number(rate)) && Number(rate) > 0)
    .filter(([index]) => codecs.get(index) !== "none")
    .map(([index]) => {
      const channelLayout = layouts.get(index) ?? "";
      return { index, channelLayout, channels: channelCount(channelLayout) };
    });
}

function headerValues(header: string, name: string): Map<number, string> {
  const values = new Map<number, string>();
  for (const match of header.matchAll(new RegExp(`^#${name} (\\d{1,4}): (.{1,100})$`, "gm"))) {
    values.set(Number(match[1]), match[2] ?? "");
  }
  return values;
}

const NAMED_LAYOUTS: Readonly<Record<string, number>> = {
  ...{ mono: 1, stereo: 2, downmix: 2, binaural: 2, quad: 4 },
  ...{ hexagonal: 6, octagonal: 8, cube: 8, hexadecagonal: 16 },
};

/** Returns the number of channels of an ffmpeg layout; null if its name does not contain the number (ambisonics). */
function channelCount(layout: string): number | null {
  const unnamed = /^(\d{1,3}) channels\b/.exec(layout);
  if (unnamed !== null) return Number(unnamed[1]);
  if (/^\d{1,2}(\.\d{1,2}){1,2}(\(|$)/.test(layout)) {
    return (layout.split("(")[0] ?? "").split(".").reduce((sum, part) => sum + Number(part), 0);
  }
  return NAMED_LAYOUTS[layout.replace(/\(.*$/, "")] ?? null;
}

/**
 * Reads the duration, the start and the first default audio track, or 0, from ffmpeg's description on standard error. A
 * hostile file that forges the description harms only itself.
 */
function parseInputDescription(messages: string) {
  // ffmpeg's description of the output contains stream lines of the same form.
  const input = messages.split(/^(?:Stream mapping:|Output #0)/m, 1)[0] ?? "";
  const duration = /^ {2}Duration: (\d{2,6}):(\d\d):(\d\d(?:\.\d+)?),(?: start: (-?\d{1,12}\.\d+),)?/m.exec(input);
  const seconds = duration === null ? 0 : Number(duration[1]) * 3600 + Number(duration[2]) * 60 + Number(duration[3]);
  const audioLines = [...input.matchAll(/^ {2,6}Stream #0:\d+.{0,100}?: Audio: .*$/gm)].map((match) => match[0]);
  const marked = audioLines.findIndex((line) => / \(default\)(?: \([a-z ]+\))*$/.test(line));
  return {
    durationSeconds: duration === null ? null : seconds,
    startSeconds: Number(duration?.[4] ?? 0),
    durationIsEstimate: /Estimating duration from bitrate/.test(input),
    defaultTrack: Math.max(marked, 0),
    trackCount: audioLines.length,
    streamCount: input.match(/^ {2,6}Stream #0:\d+/gm)?.length ?? 0,
  };
}
