import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { EXIT_OUT_OF_MEMORY, inputArguments, MEMORY_LIMIT_BYTES } from "./ffmpeg-input.ts";
import { MediaError } from "./media-error.ts";
import { channelCount, parseAudioTracks, parseInputDescription } from "./probe-output.ts";
import { type FfmpegEnd, runFfmpeg } from "./run-ffmpeg.ts";
import { isWaveWithoutSamples } from "./wave-header.ts";

/** A file with at least one audio track. */
export interface ProbedRecording {
  readonly ok: true;
  /** What the container claims; null where it claims nothing. The decoded length may differ. */
  readonly durationSeconds: number | null;
  /** True where the duration was only extrapolated from the bit rate: good for a progress bar, not for refusing a file. */
  readonly durationIsEstimate: boolean;
  readonly audioTracks: number;
  /** Which audio track will be decoded, counted from 0 among the audio tracks: the first that is marked as the default, else the first. */
  readonly trackIndex: number;
  /** Channels of that track; null where ffmpeg's name for the layout gives no number. Exactly 2 may be a call with a side on each. */
  readonly channels: number | null;
  /** ffmpeg's name of that track's layout, e.g. `stereo`, `3 channels`. */
  readonly channelLayout: string;
}

/** A file that is no recording; the reason is a sentence for whoever sent it and quotes nothing from the file. */
export interface RefusedRecording {
  readonly ok: false;
  readonly reason: string;
}

/** What a look may take. */
export interface ProbeEffort {
  /** Past this the file is at fault, and refused. */
  readonly cpuSeconds: number;
  /** By the clock; past this the machine is at fault, which gave it less than that of its processors. */
  readonly timeoutSeconds: number;
}

// Looking at headers takes ffmpeg some 20 ms; a file that takes 10 s of processor time is built to. The wall clock is
// looser, for a machine whose cores are all transcribing.
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
 * Looks at a stored file's container header and index, without decoding it, for an audio track.
 *
 * A file that is no recording is refused with a reason. Throws MediaError where the fault is not the file's
 * (`ffmpeg_unusable`, `ffmpeg_timed_out`, `input_unreadable`), and the signal's reason after an abort.
 */
export async function probeRecording(
  ffmpegPath: string,
  filePath: string,
  signal?: AbortSignal,
  effort = PROBE_EFFORT,
): Promise<ProbedRecording | RefusedRecording> {
  if ((await sizeOf(filePath)) === 0) return refused("empty");
  const look = (map: string) => describe(ffmpegPath, filePath, map, { signal, ...effort });
  let { end, header } = await look("0:a");
  let tracks = parseAudioTracks(header);
  if (tracks.length === 0 && countAudioLines(end) > 1) {
    // One track that can't be described spoils the header of all: look at the first alone.
    ({ end, header } = await look("0:a:0"));
    tracks = parseAudioTracks(header);
  }
  if (end.flooded || end.signalName !== null) return refused("costly");
  const description = parseInputDescription(end.messages);
  const trackIndex = description.defaultTrack < tracks.length ? description.defaultTrack : 0;
  const track = tracks[trackIndex];
  if (track !== undefined) {
    return {
      ok: true,
      durationSeconds: description.durationSeconds,
      durationIsEstimate: description.durationIsEstimate,
      audioTracks: tracks.length,
      trackIndex,
      channels: channelCount(track.channelLayout),
      channelLayout: track.channelLayout,
    };
  }
  if (await isWaveWithoutSamples(filePath)) {
    return {
      ok: true,
      durationSeconds: 0,
      durationIsEstimate: false,
      audioTracks: 1,
      trackIndex: 0,
      channels: null,
      channelLayout: "",
    };
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

/** Asks for copies of no packets at all: ffmpeg then opens the input, writes the output's header, and is done. */
async function describe(
  ffmpegPath: string,
  filePath: string,
  map: string,
  { signal, cpuSeconds, timeoutSeconds }: ProbeEffort & { readonly signal: AbortSignal | undefined },
): Promise<{ end: FfmpegEnd; header: string }> {
  let header = "";
  const end = await runFfmpeg({
    ...{ ffmpegPath, inputPath: filePath, outputPaths: [] },
    arguments: [...inputArguments(filePath), "-map", map, "-c", "copy", "-frames:a", "0", "-f", "framecrc", "pipe:1"],
    limits: { memoryBytes: MEMORY_LIMIT_BYTES, cpuSeconds, outputBytes: 0 },
    timeoutSeconds,
    signal,
    onStdout: (text) => {
      if (header.length < 1 << 18) header += text;
    },
  });
  return { end, header };
}

function countAudioLines(end: FfmpegEnd): number {
  return end.messages.match(/^ {2,6}Stream #0:\d+.{0,100}?: Audio: /gm)?.length ?? 0;
}

const PLAYLIST_START = /^\s*(?:#EXTM3U|\[playlist\]|\[Reference\]|ffconcat version|<\?xml|<asx|<smil|<MPD|<playlist)/i;

async function looksLikePlaylist(path: string): Promise<boolean> {
  return PLAYLIST_START.test(
    await Bun.file(path)
      .slice(0, 512)
      .text()
      .then((text) => text.replace(/^\uFEFF/, "")),
  );
}

function refused(why: keyof typeof REFUSAL): RefusedRecording {
  return { ok: false, reason: REFUSAL[why] };
}
