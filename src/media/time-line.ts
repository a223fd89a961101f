import { inputArguments, MEMORY_LIMIT_BYTES } from "./ffmpeg-input.ts";
import { MediaError } from "./media-error.ts";
import { runFfmpeg } from "./run-ffmpeg.ts";

/** Where a track's time stamps begin, in seconds of the container's own clock. */
export interface TrackStart {
  /** Of the track's first packet. A codec's run-in, which decoders drop, may make it a little early. */
  readonly trackSeconds: number;
  /** Of the earliest of the file's tracks: where players begin. */
  readonly fileSeconds: number;
}

// Opening the file and reading on to the first packets, without decoding. A file whose tracks begin far apart may take
// longer than this: its times then count from the track's own start.
const START_LIMITS = { memoryBytes: MEMORY_LIMIT_BYTES, cpuSeconds: 20, outputBytes: 0 };
const START_TIMEOUT_SECONDS = 60;

/** Finds where a file's audio track begins, counted among the audio tracks; null where the file doesn't say. */
export async function findTrackStart(
  ffmpegPath: string,
  filePath: string,
  trackIndex: number,
  signal?: AbortSignal,
): Promise<TrackStart | null> {
  const audio = await firstPacket(ffmpegPath, filePath, `0:a:${trackIndex}`, signal);
  const claimed = /^ {2}Duration: \S{1,30}, start: (-?\d+\.\d+),/m.exec(audio.messages);
  if (audio.seconds === null || claimed === null) return null;
  // Without a decoder for it ffmpeg misses where some videos in Matroska begin; there the first packet says it too.
  const isMatroska = /^Input #0, matroska/m.test(audio.messages);
  const video = isMatroska ? await firstPacket(ffmpegPath, filePath, "0:V:0", signal) : null;
  return {
    trackSeconds: audio.seconds,
    fileSeconds: Math.min(Number(claimed[1]), video?.seconds ?? Number.POSITIVE_INFINITY),
  };
}

async function firstPacket(
  ffmpegPath: string,
  filePath: string,
  track: string,
  signal: AbortSignal | undefined,
): Promise<{ seconds: number | null; messages: string }> {
  let listing = "";
  try {
    const { messages } = await runFfmpeg({
      ...{ ffmpegPath, inputPath: filePath, outputPaths: [] },
      arguments: [
        ...["-copyts", ...inputArguments(filePath), "-map", track],
        ...["-c", "copy", "-frames", "1", "-f", "framecrc", "pipe:1"],
      ],
      limits: START_LIMITS,
      timeoutSeconds: START_TIMEOUT_SECONDS,
      signal,
      onStdout: (text) => {
        if (listing.length < 1 << 16) listing += text;
      },
    });
    return { seconds: packetSeconds(listing), messages };
  } catch (error) {
    if (error instanceof MediaError && error.fault === "ffmpeg_timed_out") return { seconds: null, messages: "" };
    throw error;
  }
}

/** From ffmpeg's framecrc listing: the time base, then a packet a line: its track, decoding and presentation time. */
function packetSeconds(listing: string): number | null {
  const base = /^#tb 0: (\d{1,9})\/(\d{1,9})$/m.exec(listing);
  const packet = /^0, *-?\d+, *(-?\d{1,18}),/m.exec(listing);
  if (base === null || packet === null) return null;
  const seconds = (Number(packet[1]) * Number(base[1])) / Number(base[2]);
  return Number.isFinite(seconds) ? seconds : null;
}

/** A longer gap is a clock that jumped. ffmpeg holds the silence in memory: an hour's takes 120 MB. */
const LONGEST_GAP_SECONDS = 3600;
/**
 * Less is not filled until it adds up: containers round their time stamps, to a millisecond or to a packet, and recorders
 * of calls write down when a packet came and not when it was spoken.
 */
const TOLERANCE_SECONDS = 0.05;
/** Time stamps that fall back by more than this begin anew, as in files joined by hand. */
const RESTART_SECONDS = 1;
/** A first frame later than the track's first packet by more than this is not the first; see below. */
const FIRST_FRAME_SECONDS = 0.1;

/**
 * ffmpeg's audio filters that lay samples where the container's time stamps have them, with silence in the gaps: before a
 * track that begins after the picture, and where a recorder left out silence or packets were lost. They take the
 * container's own time stamps (`-copyts`), and give 16-bit samples of `layout` at `sampleRateHz` without gaps.
 *
 * No sample is ever dropped: where time stamps overlap, samples are laid end to end, and where they fall back or jump too
 * far ahead, they go on from there. No silence is put in beyond `maxSeconds`.
 */
export function timeLineFilters(
  start: TrackStart | null,
  sampleRateHz: number,
  maxSeconds: number,
  layout: "mono" | "stereo" = "mono",
): string[] {
  // Where a track's form changes (rate, channels) ffmpeg makes the filters anew, with empty registers and the clock going
  // on: only what comes at the track's start may be late against 0.
  const isFirst = start === null ? "0" : `lt(T,${start.trackSeconds + FIRST_FRAME_SECONDS})`;
  // Registers, 0 at first: 0 where the samples so far end, 1 what the clock is moved by, 2 whether there were samples,
  // 3 the gap before these, 4 whether it is filled, 5 where these begin. In units of TB.
  const moved = [
    `if(ld(2),0,st(1,-(${start?.fileSeconds ?? 0})/TB))`,
    "st(3,PTS+ld(1)-ld(0))",
    `st(4,if(ld(2),gt(ld(3)*TB,${TOLERANCE_SECONDS}),gt(ld(3),0)*${isFirst}))`,
    `st(4,ld(4)*lte(ld(3)*TB,${LONGEST_GAP_SECONDS})*lte((ld(0)+ld(3))*TB,${maxSeconds}))`,
    `if(ld(4)+ld(2)*between(ld(3)*TB,-${RESTART_SECONDS},${TOLERANCE_SECONDS}),0,st(1,ld(0)-PTS))`,
    "st(5,if(ld(4),ld(0)+ld(3),ld(0)))",
    "st(0,ld(5)+NB_SAMPLES/SR/TB)",
    "st(2,1)",
    "ld(5)",
  ].join(";");
  return [
    // First to the form that the samples end in: in it silence takes the least memory.
    `aresample=${sampleRateHz}`,
    `aformat=sample_fmts=s16:channel_layouts=${layout}`,
    `asetpts='${moved}'`,
    "aresample=async=1:min_hard_comp=0.001:first_pts=0",
  ];
}
