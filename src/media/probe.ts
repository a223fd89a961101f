import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { EXIT_OUT_OF_MEMORY, inputArguments, MEMORY_LIMIT_BYTES, type TrackChannels } from "./ffmpeg-arguments.ts";
import { MediaError } from "./media-error.ts";
import { type FfmpegEnd, runFfmpeg } from "./run-ffmpeg.ts";

/** A file with at least one audio track. */
export interface ProbedRecording extends TrackChannels {
  readonly ok: true;
  /** Duration according to the container; null if it gives none. The decoded length may differ. */
  readonly durationSeconds: number | null;
  /** True if ffmpeg only extrapolated the duration from the bit rate, which does not suffice to refuse a file. */
  readonly durationIsEstimate: boolean;
  /** Index of the decoded track among the audio tracks: the first that is marked as the default, otherwise 0. */
  readonly trackIndex: number;
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
  filePath: string,
  signal?: AbortSignal,
  effort = PROBE_EFFORT,
): Promise<ProbedRecording | RefusedRecording> {
  if ((await sizeOf(filePath)) === 0) return refused("empty");
  let end = await describe(ffmpegPath, filePath, "0:a", effort, signal);
  let layouts = parseTrackLayouts(end.output);
  if (layouts.length === 0 && countAudioLines(end) > 1) {
    // One track that ffmpeg cannot describe makes the header of all tracks unusable. Probe only the first one.
    end = await describe(ffmpegPath, filePath, "0:a:0", effort, signal);
    layouts = parseTrackLayouts(end.output);
  }
  if (end.flooded || end.signalName !== null) return refused("costly");
  const { durationSeconds, durationIsEstimate, defaultTrack } = parseInputDescription(end.messages);
  const trackIndex = defaultTrack < layouts.length ? defaultTrack : 0;
  const channelLayout = layouts[trackIndex];
  if (channelLayout !== undefined) {
    const channels = channelCount(channelLayout);
    return { ok: true, durationSeconds, durationIsEstimate, trackIndex, channels, channelLayout };
  }
  if (await isWaveWithoutSamples(filePath)) {
    const header = { durationSeconds: 0, durationIsEstimate: false, trackIndex: 0 };
    return { ok: true, ...header, channels: null, channelLayout: "" };
  }
  if (await looksLikePlaylist(filePath)) return refused("playlist");
  if (end.exitCode === EXIT_OUT_OF_MEMORY) return refused("large");
  return refused(/^Input #0, /m.test(end.messages) && countAudioLines(end) === 0 ? "silent" : "unreadable");
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
function describe(
  ffmpegPath: string,
  filePath: string,
  map: string,
  { cpuSeconds, timeoutSeconds }: ProbeEffort,
  signal: AbortSignal | undefined,
): Promise<FfmpegEnd> {
  return runFfmpeg({
    ...{ ffmpegPath, inputPath: filePath, outputPaths: [] },
    arguments: [...inputArguments(filePath), "-map", map, "-c", "copy", "-frames:a", "0", "-f", "framecrc", "pipe:1"],
    limits: { memoryBytes: MEMORY_LIMIT_BYTES, cpuSeconds, outputBytes: 0 },
    ...{ timeoutSeconds, signal },
  });
}

function countAudioLines(end: FfmpegEnd): number {
  return end.messages.match(/^ {2,6}Stream #0:\d+.{0,100}?: Audio: /gm)?.length ?? 0;
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
 * Reads the channel layouts of all audio tracks, as ffmpeg names them: `mono`, `stereo`, `5.1(side)`, `3 channels`. The
 * source is the header that ffmpeg's framecrc muxer writes for stream copies.
 *
 * The header holds no metadata of the file, unlike the description on standard error, where a tag's name may contain
 * line breaks and imitate a stream.
 */
function parseTrackLayouts(framecrcHeader: string): string[] {
  const layouts = headerValues(framecrcHeader, "channel_layout_name");
  return [...headerValues(framecrcHeader, "sample_rate")]
    .filter(([, rate]) => Number.isSafeInteger(Number(rate)) && Number(rate) > 0)
    .map(([index]) => layouts.get(index) ?? "");
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
 * Reads the duration and the first default audio track, or 0, from ffmpeg's description on standard error. A hostile
 * file that forges the description harms only itself.
 */
function parseInputDescription(messages: string) {
  // ffmpeg's description of the output contains stream lines of the same form.
  const input = messages.split(/^(?:Stream mapping:|Output #0)/m, 1)[0] ?? "";
  const duration = /^ {2}Duration: (\d{2,6}):(\d\d):(\d\d(?:\.\d+)?),/m.exec(input);
  const audioLines = [...input.matchAll(/^ {2,6}Stream #0:\d+.{0,100}?: Audio: .*$/gm)].map((match) => match[0]);
  const marked = audioLines.findIndex((line) => / \(default\)(?: \([a-z ]+\))*$/.test(line));
  return {
    durationSeconds:
      duration === null ? null : Number(duration[1]) * 3600 + Number(duration[2]) * 60 + Number(duration[3]),
    durationIsEstimate: /Estimating duration from bitrate/.test(input),
    defaultTrack: Math.max(marked, 0),
  };
}
