import channelDirections from "./channel-directions.json" with { type: "json" };
import { addScaled, dot, unit } from "./similarity.ts";

/**
 * Orthonormal directions in which CAM++ embeddings vary with the channel (such as a telephone line) and not with the
 * voice: those of greatest difference between 2 s of speech of 59 people over seven channels: 8 kHz µ-law whole, with a
 * hard band limit of 300 to 3400 Hz, and with noise; A-law; GSM; low-pass and high-pass. Another model needs new ones.
 */
const directions = channelDirections.map((direction) => Float32Array.from(direction));

/**
 * Removes the channel component from a voice embedding; the result has unit length. On the telephone, the channel makes
 * all voices similar, so much that two people were merged into one speaker. Embeddings of another size stay as they
 * are.
 *
 * On people who speak in none of the tuning data, over a channel with a hard band limit, 9 of 14 speaker counts are
 * right instead of 2, and 12.6 % of the speech is confused instead of 53 %; with two directions 16 %, with six 10 %.
 */
export function removeChannel(embedding: Float32Array): Float32Array {
  if (embedding.length !== directions[0]?.length) return embedding;
  const rest = embedding.slice();
  for (const direction of directions) addScaled(rest, direction, -dot(rest, direction));
  return unit(rest);
}

/**
 * Returns the channel component of an embedding as output by the model: up to 0.2 in the studio, over noise and in
 * rooms, 0.2 to 0.3 on most telephones, 0.4 to 0.5 with a hard band limit, 0 for an embedding of another size.
 */
export function channelComponent(embedding: Float32Array): number {
  const [main] = directions;
  return main !== undefined && embedding.length === main.length ? dot(embedding, main) : 0;
}
