import { FRAME_SAMPLES } from "../../blocks/index.ts";
import { SAMPLE_RATE } from "../../timeline/index.ts";
import { dot, minSimilarity } from "./similarity.ts";
import { partsOf } from "./voice-parts.ts";
import { type Voice, type VoiceFragment, wholeVoice } from "./voices.ts";

/** Candidate speakers per voice. With three voices in a window, the best assignment never needs a fourth. */
const CANDIDATES = 3;
/** Clean speech beyond this length does not increase a voice's weight. */
const MAX_SECONDS = 2;
/** Weight of a voice without clean speech, relative to one second of it. It is low because other speakers overlap. */
const UNCLEAN_WEIGHT = 0.1;

/**
 * Assigns a speaker to each voice of one window so that the weighted sum of similarities is maximal. Voices with more
 * clean speech weigh more. No speaker is assigned twice, because the model distinguished these voices as different
 * people. A voice gets -1 if there are more voices than speakers. `centroids` have unit length.
 */
export function assignWindow(voices: readonly Voice[], centroids: readonly Float32Array[]): number[] {
  const ranked = voices.map((voice) => {
    const whole = wholeVoice(voice);
    const seconds = (voice.cleanFrames * FRAME_SAMPLES) / SAMPLE_RATE;
    const weight = UNCLEAN_WEIGHT + Math.min(MAX_SECONDS, seconds);
    return centroids
      .map((centroid, speaker) => ({ speaker, score: weight * dot(whole, centroid) }))
      .sort((a, b) => b.score - a.score)
      .slice(0, CANDIDATES);
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
      // No score reaches 5, so adding 10 makes an assigned voice always better than an unassigned one.
      choose(index + 1, sum + score + 10);
      chosen.pop();
    }
    chosen.push(-1);
    choose(index + 1, sum);
    chosen.pop();
  }
}

/**
 * Returns the speaker of each fragment of a voice: `speaker`, or another that it resembles much more. The segmentation
 * model sometimes merges two people who speak one after the other, mostly of the same sex or within a second. Parts of a
 * voice that do not resemble each other are therefore assigned separately.
 */
export function assignFragments(voice: Voice, speaker: number, centroids: readonly Float32Array[]): number[] {
  if (speaker < 0) return voice.fragments.map(() => speaker);
  const parts = partsOf(voice);
  const speakers = new Map<VoiceFragment, number>();
  for (const part of parts) {
    const own =
      parts.length === 1 ? speaker : mostSimilar(wholeVoice(part), speaker, minSimilarity.ofDivided, centroids);
    for (const fragment of part.fragments) {
      const { start, end, embedding } = fragment;
      const isJoined = start === end;
      speakers.set(fragment, isJoined ? own : mostSimilar(embedding, own, minSimilarity.ofStrangers, centroids));
    }
  }
  return voice.fragments.map((fragment) => speakers.get(fragment) ?? speaker);
}

/** Returns the most similar speaker, with a margin in favour of the one given. */
function mostSimilar(
  embedding: Float32Array,
  speaker: number,
  margin: number,
  centroids: readonly Float32Array[],
): number {
  let best = speaker;
  let most = dot(embedding, centroids[speaker] ?? embedding) + margin;
  for (const [other, centroid] of centroids.entries()) {
    const similar = dot(embedding, centroid);
    if (similar <= most) continue;
    most = similar;
    best = other;
  }
  return best;
}
