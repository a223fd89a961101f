import { FRAME_SAMPLES, SAMPLE_RATE } from "../../timeline/index.ts";
import { likeness } from "./likeness.ts";
import { dot } from "./vectors.ts";
import { type Voice, wholeVoice } from "./voices.ts";

/** Speakers that are tried for a voice: with three voices in a window, the best choice never needs a fourth. */
const TRIED = 3;
/** More clean speech than this makes a voice no surer. */
const MOST_SECONDS = 2;
/** What a voice without clean speech counts beside one with a second of it: little, since others are heard in it. */
const UNCLEAR = 0.1;

/**
 * The speaker of each voice of one window: the most alike in sum, clear voices first, no speaker twice, since the model
 * heard them as different people. -1 where there are more voices than speakers. `centroids` are of unit length.
 */
export function assignWindow(voices: readonly Voice[], centroids: readonly Float32Array[]): number[] {
  const ranked = voices.map((voice) => {
    const whole = wholeVoice(voice);
    const seconds = (voice.cleanFrames * FRAME_SAMPLES) / SAMPLE_RATE;
    const weight = UNCLEAR + Math.min(MOST_SECONDS, seconds);
    return centroids
      .map((centroid, speaker) => ({ speaker, score: weight * dot(whole, centroid) }))
      .sort((a, b) => b.score - a.score)
      .slice(0, TRIED);
  });
  let best: number[] = [];
  let most = Number.NEGATIVE_INFINITY;
  const chosen: number[] = [];
  choose(0, 0);
  return best;

  function choose(index: number, sum: number): void {
    if (index === voices.length) {
      if (sum > most) {
        most = sum;
        best = chosen.slice();
      }
      return;
    }
    for (const { speaker, score } of ranked[index] ?? []) {
      if (chosen.includes(speaker)) continue;
      chosen.push(speaker);
      // No score reaches 5: adding 10 makes an assigned voice always better than one left out.
      choose(index + 1, sum + score + 10);
      chosen.pop();
    }
    chosen.push(-1);
    choose(index + 1, sum);
    chosen.pop();
  }
}

/**
 * The speaker of each piece of a voice that is taken for `speaker`'s: another one's where it is much more like theirs.
 * The segmentation model now and then hears two people as one, mostly of one sex who speak one after the other.
 */
export function assignPieces(voice: Voice, speaker: number, centroids: readonly Float32Array[]): number[] {
  return voice.pieces.map(({ start, end, embedding }) => {
    if (speaker < 0 || end === start) return speaker;
    let best = speaker;
    let most = dot(embedding, centroids[speaker] ?? embedding) + likeness.ofStrangers;
    for (const [other, centroid] of centroids.entries()) {
      const alike = dot(embedding, centroid);
      if (alike <= most) continue;
      most = alike;
      best = other;
    }
    return best;
  });
}
