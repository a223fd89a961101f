/** Sample rate of all PCM in the product, which the recognizer and the diarization models require. */
export const PCM_SAMPLE_RATE_HZ = 16_000;
/** Bytes per sample: signed 16-bit little-endian, mono. */
export const PCM_BYTES_PER_SAMPLE = 2;
