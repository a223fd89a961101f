import { size } from "../text/index.ts";
import { type DecodePlan, decodeRun } from "./decode-plan.ts";
import { hasChannelPair } from "./ffmpeg-arguments.ts";
import { MediaError } from "./media-error.ts";
import { PCM_BYTES_PER_SAMPLE, PCM_SAMPLE_RATE_HZ } from "./pcm.ts";
import type { ProbedRecording } from "./probe.ts";
import { lineReader, runFfmpeg } from "./run-ffmpeg.ts";

const PCM_BYTES_PER_SECOND = PCM_SAMPLE_RATE_HZ * PCM_BYTES_PER_SAMPLE;
/** Lowest plausible byte rate: 2 kbit/s, less than any speech codec needs. It caps the duration in a header. */
const LEAST_BYTES_PER_SECOND = 250;
/** Assumed byte rate of a recording without a declared duration: 16 kbit/s, that of a poor telephone line. */
const ASSUMED_BYTES_PER_SECOND = 2000;

/** Estimates the bytes on disk that decoding a recording needs, from its header and its size. */
export function estimateDecodedBytes(probed: ProbedRecording, sizeBytes: number, maxSeconds: number): number {
  // A writer that did not know the duration may have left 0.
  const declaredSeconds = probed.durationSeconds || sizeBytes / ASSUMED_BYTES_PER_SECOND;
  const seconds = Math.min(maxSeconds, declaredSeconds, sizeBytes / LEAST_BYTES_PER_SECOND);
  // Two compared channels are decoded in addition to their mix.
  return Math.ceil(seconds * PCM_BYTES_PER_SECOND * (probed.tracks.some(hasChannelPair) ? 3 : 1));
}

/** Estimates the size of the steps' results: about 10 MB an hour, compared with 115 MB of PCM. */
export function estimateResultBytes(pcmBytes: number): number {
  return Math.ceil(pcmBytes / 8);
}

/** The disk space for one recording's decoded audio, in bytes. */
export interface DecodeSpace {
  /** Size that an earlier attempt measured for this recording's decoded audio; null if no attempt had to measure it. */
  readonly measuredBytes: number | null;
  /** Stores the measured size for later attempts. */
  storeMeasured(bytes: number): void;
  /** Returns whether the disk could hold this many bytes if everything else were removed from it. */
  couldHold(bytes: number): boolean;
  /** Reserves disk space. @throws {MachineError} when there is not enough free space now */
  reserve(bytes: number): void;
  /** Reports written bytes, which leave the reservation. */
  written(bytes: number): void;
}

/**
 * Reserves the disk space that a decode needs: the measured size when it is known, otherwise the estimate from the
 * header, which may contain any value. If that is more than the disk could ever hold, the size is measured first.
 * @returns the reserved bytes
 * @throws {MachineError} when there is not enough free space now
 * @throws {MediaError} `disk_full` when there can never be enough space
 */
export async function reserveSpace(plan: DecodePlan, space: DecodeSpace, estimatedBytes: number): Promise<number> {
  let bytes = space.measuredBytes ?? estimatedBytes;
  if (!space.couldHold(bytes) && space.measuredBytes === null) bytes = await measureSpace(plan, space);
  if (!space.couldHold(bytes)) {
    throw new MediaError("disk_full", `the decoded audio takes ${size(bytes)}, more than the whole disk could hold`);
  }
  space.reserve(bytes);
  return bytes;
}

/**
 * Measures and stores the size of a decode's outputs by decoding the recording and discarding the result. Without it,
 * each retry of a decode that needs more than was reserved would fill the disk again.
 * @param leastBytes bytes that a decode has already written
 */
export async function measureSpace(plan: DecodePlan, space: DecodeSpace, leastBytes = 0): Promise<number> {
  const { outputs, maxSeconds } = plan;
  let outputBytes = 0;
  const discarded = outputs.slice(0, 1).map(({ filters }) => ({ path: null, filters }));
  await runFfmpeg({
    ...decodeRun({ ...plan, outputs: discarded }),
    // Each line describes one packet: its track, decoding and presentation time, duration and size.
    onOutput: lineReader((line) => {
      outputBytes += Number(/^0, *-?\d+, *-?\d+, *\d+, *(\d{1,9}),/.exec(line)?.[1] ?? 0);
    }),
  });
  if (outputBytes > maxSeconds * PCM_BYTES_PER_SECOND) {
    throw new MediaError("recording_too_long", `the recording is longer than ${maxSeconds} s`);
  }
  const bytes = Math.max(outputBytes * outputs.length, leastBytes);
  space.storeMeasured(bytes);
  return bytes;
}
