import { unit } from "./vectors.ts";

/**
 * The embedding of nobody in particular, in thousandths: the mean over the 75 single-speaker recordings of the corpus
 * (LibriSpeech, FLEURS and others, nine languages) of each one's mean embedding.
 */
// biome-ignore format: a table
const MEAN_VOICE = [
  48, 19, 11, 0, 13, 18, 30, 49, 44, 26, 89, 92, 72, 39, 14, 15, 80, 31, 17, 12, 47, 56, 4, 0, 5, 72, 18, 13, 0, 3,
  73, 51, 35, 5, 55, 95, 60, 11, 28, 15, 14, 21, 65, 38, 32, 25, 11, 28, 41, 19, 0, 43, 4, 0, 0, 51, 33, 2, 31, 10,
  22, 16, 34, 43, 44, 4, 85, 66, 0, 11, 0, 42, 15, 72, 8, 18, 0, 37, 12, 78, 16, 5, 110, 55, 8, 11, 14, 58, 0, 90,
  77, 0, 1, 13, 8, 0, 25, 0, 2, 0, 2, 2, 55, 60, 30, 44, 23, 32, 10, 120, 0, 50, 25, 112, 43, 0, 36, 29, 9, 4, 54,
  67, 69, 55, 65, 91, 45, 104, 55, 3, 28, 6, 35, 52, 57, 52, 34, 2, 33, 51, 0, 0, 94, 46, 35, 14, 64, 0, 133, 46,
  73, 29, 4, 30, 24, 116, 11, 22, 55, 39, 46, 6, 44, 53, 46, 76, 54, 41, 60, 80, 2, 2, 11, 27, 4, 35, 29, 70, 40,
  10, 64, 15, 17, 38, 34, 0, 15, 63, 5, 7, 56, 48, 1, 76, 0, 25, 47, 65, 63, 89, 62, 47, 28, 14, 0, 13, 13, 66, 7,
  32, 4, 11, 63, 50, 0, 46, 0, 46, 72, 4, 59, 33, 4, 0, 25, 77, 51, 54, 0, 3, 12, 2, 16, 0, 1, 49, 48, 78, 75, 90,
  73, 45, 2, 84, 38, 72, 71, 16, 74, 18, 0, 63, 43, 0, 13, 0,
];

/**
 * What sets a voice apart: its embedding less what all voices have in common, at unit length. The embeddings have no
 * negative numbers, so all of them are alike; without the common part, equal error rates between the voices of a
 * recording fell from 15.3 to 11.8 % on the AMI excerpts and from 26 to 22 % on the telephone sample, which the mean was
 * not taken from.
 */
export function characteristic(embedding: Float32Array): Float32Array {
  return unit(unit(embedding).map((value, index) => value - (MEAN_VOICE[index] ?? 0) / 1000));
}
