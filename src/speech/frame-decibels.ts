/**
 * Returns the level of each frame of `frameSamples` samples in decibels relative to full scale; digital silence is
 * -120.
 */
export function frameDecibels(samples: Float32Array, frameSamples: number): Float64Array {
  return Float64Array.from({ length: Math.floor(samples.length / frameSamples) }, (_, frame) => {
    let power = 0;
    for (let i = frame * frameSamples; i < (frame + 1) * frameSamples; i++) {
      const sample = samples[i] ?? 0;
      power += sample * sample;
    }
    return 10 * Math.log10(power / frameSamples + 1e-12);
  });
}
