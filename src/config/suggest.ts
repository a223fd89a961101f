import { editDistance } from "../text/index.ts";

/** Returns the candidate most similar to a name, if one is similar enough; otherwise null. */
export function suggest(name: string, candidates: readonly string[]): string | null {
  const wanted = name.toLowerCase();
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: editDistance(wanted, candidate.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  return best !== undefined && best.distance <= Math.max(1, Math.floor(name.length / 3)) ? best.candidate : null;
}
