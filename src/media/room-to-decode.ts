import type { ProbedRecording } from "./probe.ts";

/** Bytes per second of PCM: 16 kHz, 16 bits, mono. */
const bytesPerSecond = 32_000;
/**
 * Lowest plausible byte rate: 2 kbit/s, less than any speech codec needs. It caps the duration that a header declares.
 */
const leastRate = 250;
/** Assumed byte rate of a recording without a declared duration: 16 kbit/s, that of a poor telephone line. */
const poorRate = 2000;

/** Returns whether a recording's two channels are compared. Both are then decoded in addition to their mix. */
export function hasPair({ channelLayout }: ProbedRecording): boolean {
  return /^(?:stereo|2 channels)$/.test(channelLayout);
}

/** Estimates the bytes on disk that decoding a recording needs, from its header and its size. */
export function roomToDecode(probed: ProbedRecording, sizeBytes: number, maxSeconds: number): number {
  const seconds = Math.min(maxSeconds, probed.durationSeconds ?? sizeBytes / poorRate, sizeBytes / leastRate);
  return Math.ceil(seconds * bytesPerSecond * (hasPair(probed) ? 3 : 1));
}

/**
 * Estimates the bytes on disk that the results of the steps take, in addition to the PCM, until processing ends. They
 * take about 10 MB an hour, compared with 115 MB of PCM.
 */
export function roomForResults(soundBytes: number): number {
  return Math.ceil(soundBytes / 8);
}
