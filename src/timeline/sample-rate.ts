/** Samples per second of all PCM that the engine reads. */
export const SAMPLE_RATE = 16_000;
