import type { ProbedRecording } from "./probe.ts";

/** Bytes of a second of PCM: 16 kHz, 16 bits, mono. */
const bytesPerSecond = 32_000;
/** 2 kbit/s: less than any codec for speech takes, so a header that tells of more is not believed. */
const leastRate = 250;
/** 16 kbit/s, a poor telephone line's, is taken for a recording that does not say its length. */
const poorRate = 2000;

/** Whether a recording's two channels are compared, for which both are decoded beside their mix. */
export function hasPair({ channelLayout }: ProbedRecording): boolean {
  return /^(?:stereo|2 channels)$/.test(channelLayout);
}

/** Bytes on disk that decoding a recording is going to take, as far as its header and its size tell. */
export function roomToDecode(probed: ProbedRecording, sizeBytes: number, maxSeconds: number): number {
  const seconds = Math.min(maxSeconds, probed.durationSeconds ?? sizeBytes / poorRate, sizeBytes / leastRate);
  return Math.ceil(seconds * bytesPerSecond * (hasPair(probed) ? 3 : 1));
}

/**
 * Bytes on disk that the steps' findings take beside the sound, until a recording ends: about 10 MB an hour, next to 115 MB
 * of sound.
 */
export function roomForResults(soundBytes: number): number {
  return Math.ceil(soundBytes / 8);
}
