/** Samples a second of all PCM in the product: what Whisper and the diarization models take. */
export const PCM_SAMPLE_RATE_HZ = 16_000;
/** Signed 16-bit little-endian, mono. */
export const PCM_BYTES_PER_SAMPLE = 2;
