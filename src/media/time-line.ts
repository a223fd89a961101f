import { inputArguments } from "./ffmpeg-arguments.ts";
import { MediaError } from "./media-error.ts";
import { type InputFile, runFfmpeg } from "./run-ffmpeg.ts";

/** Start of a track's time stamps, in seconds of the container's clock. */
export interface TrackStart {
  /** Time stamp of the track's first packet; slightly early if the codec has a pre-roll, which decoders drop. */
  readonly trackSeconds: number;
  /** Start of the file's earliest track, where players begin. */
  readonly fileSeconds: number;
}

// Opening the file and reading up to the first packets, without decoding. A file whose tracks begin far apart may take
// longer than this limit. Its times are then relative to the track's own start.
const START_LIMITS = { cpuSeconds: 20, timeoutSeconds: 60 };

/** Finds the start of an audio track, counted among the audio tracks; null if the file does not contain it. */
export async function findTrackStart(file: InputFile, trackIndex: number): Promise<TrackStart | null> {
  const audio = await firstPacket(file, `0:a:${trackIndex}`);
  if (audio.seconds === null) return null;
  const declared = /^ {2}Duration: \S{1,30}, start: (-?\d+\.\d+),/m.exec(audio.messages)?.[1];
  // Without a video decoder, ffmpeg does not detect the start of some videos in Matroska. The first video packet gives
  // it there.
  const asksVideo = declared === undefined || /^Input #0, matroska/m.test(audio.messages);
  const video = asksVideo ? await firstPacket(file, "0:V:0") : null;
  const starts = [
    declared === undefined ? audio.seconds : Number(declared),
    video?.seconds ?? Number.POSITIVE_INFINITY,
  ];
  return { trackSeconds: audio.seconds, fileSeconds: Math.min(...starts) };
}

async function firstPacket(file: InputFile, track: string): Promise<{ seconds: number | null; messages: string }> {
  try {
    const { output, messages } = await runFfmpeg({
      ...{ ...file, ...START_LIMITS },
      arguments: [
        ...["-copyts", ...inputArguments(file.inputPath), "-map", track],
        ...["-c", "copy", "-frames", "1", "-f", "framecrc", "pipe:1"],
      ],
    });
    return { seconds: packetSeconds(output), messages };
  } catch (error) {
    if (error instanceof MediaError && error.fault === "ffmpeg_timed_out") return { seconds: null, messages: "" };
    throw error;
  }
}

/** Parses the time of the first packet from ffmpeg's framecrc listing: the time base, then a packet per line. */
function packetSeconds(listing: string): number | null {
  const base = /^#tb 0: (\d{1,9})\/(\d{1,9})$/m.exec(listing);
  const packet = /^0, *-?\d+, *(-?\d{1,18}),/m.exec(listing);
  if (base === null || packet === null) return null;
  const seconds = (Number(packet[1]) * Number(base[1])) / Number(base[2]);
  return Number.isFinite(seconds) ? seconds : null;
}

/** Longest gap that is filled with silence, which ffmpeg holds in memory. A longer gap means that the clock jumped. */
export const LONGEST_GAP_SECONDS = 3600;
/**
 * Smallest gap that is filled; smaller gaps add up until they reach it. Containers round their time stamps to a
 * millisecond or to a packet, and call recorders store the time at which a packet arrived.
 */
const TOLERANCE_SECONDS = 0.05;
/** Time stamps that fall back by more than this restart, as in files that were concatenated by hand. */
const RESTART_SECONDS = 1;
/** A frame that starts later than the track's first packet by more than this is not the first frame; see below. */
const FIRST_FRAME_SECONDS = 0.1;

/**
 * Returns ffmpeg's audio filters that place samples according to the container's own time stamps (`-copyts`) and fill
 * gaps with silence. Gaps occur before a track that begins after the picture, and where a recorder omitted silence.
 *
 * No sample is ever dropped. Overlapping samples are placed one after the other. After time stamps that fall back or
 * jump too far ahead, the output continues from the current position. No silence is inserted beyond `maxSeconds`.
 */
export function timeLineFilters(
  start: TrackStart | null,
  sampleRateHz: number,
  maxSeconds: number,
  layout: "mono" | "stereo" = "mono",
): string[] {
  // When a track's format changes (rate, channels), ffmpeg recreates the filters with empty registers while the clock
  // continues. Therefore only a gap at the track's start may be measured against 0.
  const isFirst = start === null ? "0" : `lt(T,${start.trackSeconds + FIRST_FRAME_SECONDS})`;
  // Registers, initially 0, times in units of TB. 0: end of the samples so far. 1: offset of the clock. 2: whether
  // there were samples before. 3: gap before these samples. 4: whether the gap is filled. 5: start of these samples.
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
    // Convert to the output format first: silence takes the least memory in it.
    `aresample=${sampleRateHz}`,
    `aformat=sample_fmts=s16:channel_layouts=${layout}`,
    `asetpts='${moved}'`,
    "aresample=async=1:min_hard_comp=0.001:first_pts=0",
  ];
}
