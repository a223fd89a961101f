import type { ModelBytes } from "../ggml-model.ts";

/** Values that break readers of counts and lengths. */
const extremes = [0, 1, 2, 3, 4, 5, 7, 32, 64, 255, 4096, 65_535, 51_865, 0x7fffffff, -0x80000000, -1, -2, 0x40000000];

/** A copy of a model's file with one to three changes: to its header, vocabulary or tensor table, its weights or its length. */
export function mutate(model: ModelBytes, random: () => number): Buffer {
  let bytes: Buffer = Buffer.from(model.bytes);
  for (let change = Math.ceil(3 * random()); change > 0; change--) bytes = changed(bytes, model, random);
  return bytes;
}

function changed(bytes: Buffer, { numbers, tensors }: ModelBytes, random: () => number): Buffer {
  const below = (limit: number) => Math.floor(limit * random());
  const number = numbers[below(numbers.length)] ?? 0;
  const entry = below(tensors.length - 1);
  const [start = 0, end = 0] = tensors.slice(entry, entry + 2);
  const at = below(9);
  // An earlier change may have cut it off.
  const fits = number + at + 4 <= bytes.length && end <= bytes.length;
  switch (fits ? below(12) : 11) {
    case 0:
    case 1:
    case 2:
      bytes.writeInt32LE(extremes[below(extremes.length)] ?? 0, number);
      return bytes;
    case 3:
      bytes.writeInt32LE((bytes.readInt32LE(number) + below(5) - 2) | 0, number);
      return bytes;
    case 4:
      bytes.writeInt32LE((bytes.readInt32LE(number) * 2) | 0, number);
      return bytes;
    case 5:
      // A bit of a number, or of the name behind it.
      bytes.writeInt32LE(bytes.readInt32LE(number + at) ^ (1 << below(32)), number + at);
      return bytes;
    case 6:
      return Buffer.concat([bytes.subarray(0, start), bytes.subarray(end)]);
    case 7:
      return Buffer.concat([bytes.subarray(0, end), bytes.subarray(start, end), bytes.subarray(end)]);
    case 8:
      return Buffer.concat([bytes, Buffer.from(Uint8Array.from({ length: 1 + below(64) }, () => below(256)))]);
    case 9:
    case 10:
      // Not a number, in each type of floats.
      bytes.fill(0xff, Math.max(start + 64, end - 1 - below(65_536)), end);
      return bytes;
    default:
      // Half of the cuts go through the table, whose entries are few bytes among weights.
      return bytes.subarray(0, random() < 0.5 ? below(bytes.length) : Math.min(bytes.length, start + below(64)));
  }
}
