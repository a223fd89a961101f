import { SAMPLE_RATE, type Span } from "../timeline/index.ts";

/** 10 ms. */
const frameSamples = 160;
const frameSeconds = frameSamples / SAMPLE_RATE;

/** Maximum distance of the quiet level below the loud one: anything lower is digital silence. */
const deepestDecibels = 45;
/** Minimum difference between the loud and the quiet parts; with less, pauses cannot be detected. */
const leastContrastDecibels = 12;
/** Level at which speech starts, as a fraction of the way from the quiet to the loud level in decibels. */
const threshold = 0.3;
/** Minimum duration of a pause; shorter ones are the closures of stop consonants within words. */
const shortestSeconds = 0.18;
/** Minimum duration of a sound; a shorter one between two silences is a click, not speech. */
const shortestSoundFrames = 3;

/**
 * Finds the pauses of 16 kHz mono speech by loudness, relative to the loud and quiet parts of the same samples, in
 * seconds from their start. On ten built dialogues of 138 turns, all first words start and 99 % of the last words end
 * within 0.2 s of their turn; by alignment alone 32 %. Thresholds from 0.25 to 0.45 give similar results.
 */
export function findSilences(samples: Float32Array): Span[] {
  const loudness = frameDecibels(samples, frameSamples);
  if (loudness.length === 0) {
    return [];
  }
  const sorted = Float64Array.from(loudness).sort();
  const at = (part: number): number => sorted[Math.floor(part * (sorted.length - 1))] ?? 0;
  const loud = at(0.95);
  const quiet = Math.max(at(0.1), loud - deepestDecibels);
  if (loud - quiet < leastContrastDecibels) {
    return [];
  }
  return quietRuns(loudness, quiet + threshold * (loud - quiet));
}

function quietRuns(loudness: Float64Array, limit: number): Span[] {
  const runs: Span[] = [];
  let start = 0;
  let soundFrames = 0;
  const close = (end: number): void => {
    if ((end - start) * frameSeconds >= shortestSeconds) {
      runs.push({ startSeconds: start * frameSeconds, endSeconds: end * frameSeconds });
    }
  };
  for (let frame = 0; frame < loudness.length; frame++) {
    if ((loudness[frame] ?? 0) < limit) {
      if (soundFrames >= shortestSoundFrames) {
        close(frame - soundFrames);
        start = frame;
      }
      soundFrames = 0;
    } else {
      soundFrames++;
    }
  }
  close(loudness.length - (soundFrames >= shortestSoundFrames ? soundFrames : 0));
  return runs;
}

/** Returns each frame's level in decibels relative to full scale; digital silence is -120. */
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
