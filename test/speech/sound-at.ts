import { SAMPLE_RATE } from "../../src/timeline/index.ts";

/** Samples of a tone in the stretches named, in seconds; near silence elsewhere. */
export function soundAt(durationSeconds: number, ...stretches: readonly (readonly [number, number])[]): Float32Array {
  return Float32Array.from({ length: durationSeconds * SAMPLE_RATE }, (_, at) => {
    const isSound = stretches.some(([start, end]) => at >= start * SAMPLE_RATE && at < end * SAMPLE_RATE);
    return (isSound ? 0.3 : 0.0005) * Math.sin(at / 5);
  });
}
