import { addScaled, dot, minSimilarity } from "./similarity.ts";
import type { Voice, VoiceFragment } from "./voices.ts";

interface Part {
  /** Sum of the fragments' embeddings, each multiplied by its frames. */
  readonly sum: Float32Array;
  readonly frames: number;
  readonly fragments: readonly VoiceFragment[];
}

/**
 * Divides the voice of a local speaker into parts whose fragments resemble each other, by average linkage. A local
 * speaker is several people where the segmentation model misses changes of speaker, as in turns of a second. The clean
 * frames of a part are those of its fragments. Most voices are returned whole.
 */
export function partsOf(voice: Voice): Voice[] {
  if (voice.fragments.length < 2) return [voice];
  const parts = voice.fragments.map((fragment): Part => {
    const frames = fragment.end - fragment.start;
    return { sum: fragment.embedding.map((value) => value * frames), frames, fragments: [fragment] };
  });
  for (let closest = closestPair(parts); closest !== null; closest = closestPair(parts)) {
    const [one, other] = closest;
    parts.splice(parts.indexOf(other), 1);
    parts[parts.indexOf(one)] = join(one, other);
  }
  if (parts.length === 1) return [voice];
  return parts.map(({ frames, fragments }) => ({ ...voice, cleanFrames: frames, fragments: [...fragments] }));
}

/** Returns the two parts that are most similar; null if no pair is similar enough for one speaker. */
function closestPair(parts: readonly Part[]): [Part, Part] | null {
  let most: number = minSimilarity.ofParts;
  let closest: [Part, Part] | null = null;
  for (const [index, one] of parts.entries()) {
    for (const other of parts.slice(index + 1)) {
      const similarity = dot(one.sum, other.sum) / (one.frames * other.frames);
      if (similarity < most) continue;
      most = similarity;
      closest = [one, other];
    }
  }
  return closest;
}

function join(one: Part, other: Part): Part {
  const sum = one.sum.slice();
  addScaled(sum, other.sum, 1);
  const fragments = [...one.fragments, ...other.fragments].sort((a, b) => a.start - b.start);
  return { sum, frames: one.frames + other.frames, fragments };
}
