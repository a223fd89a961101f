type Change = (bytes: Buffer, random: () => number, others: readonly Uint8Array[]) => Buffer;

const changes: readonly Change[] = [
  // Changes single bytes, most of them in the headers.
  (bytes, random) => {
    for (let count = 1 + below(random, 64); count > 0; count--) {
      const within = random() < 0.5 ? Math.min(bytes.length, 512) : bytes.length;
      bytes.writeUInt8(below(random, 256), below(random, within));
    }
    return bytes;
  },
  // Sets a four-byte number to a value near its limits.
  (bytes, random) => {
    const values = [0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffff0];
    const within = random() < 0.7 ? Math.min(bytes.length, 1024) : bytes.length;
    if (bytes.length >= 4) {
      bytes.writeUInt32BE(values[below(random, values.length)] ?? 0, Math.min(below(random, within), bytes.length - 4));
    }
    return bytes;
  },
  // Truncates the file.
  (bytes, random) => bytes.subarray(0, 1 + below(random, bytes.length)),
  // Removes a part.
  (bytes, random) => {
    const [from, to] = piece(bytes, random);
    return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]);
  },
  // Duplicates a part.
  (bytes, random) => {
    const [from, to] = piece(bytes, random);
    return Buffer.concat([bytes.subarray(0, to), bytes.subarray(from)]);
  },
  // Swaps two parts.
  (bytes, random) => {
    const [from, to] = piece(bytes, random);
    const at = below(random, bytes.length);
    const moved = Buffer.from(bytes.subarray(from, to));
    bytes.copyWithin(from, at, Math.min(at + to - from, bytes.length));
    moved.copy(bytes, at);
    return bytes;
  },
  // Continues with another file.
  (bytes, random, others) => {
    const other = others[below(random, others.length)] ?? bytes;
    return Buffer.concat([bytes.subarray(0, below(random, bytes.length)), other.subarray(below(random, other.length))]);
  },
  // Overwrites a part with zeros.
  (bytes, random) => bytes.fill(random() < 0.5 ? 0 : 0xff, ...piece(bytes, random)),
];

/** Damages a file in one to three random ways. `others` are files from which parts are taken. */
export function mutate(original: Uint8Array, others: readonly Uint8Array[], random: () => number): Buffer {
  let bytes = Buffer.from(original);
  for (let count = 1 + below(random, 3); count > 0 && bytes.length > 0; count--) {
    const change = changes[below(random, changes.length)];
    if (change !== undefined) bytes = Buffer.from(change(bytes, random, others));
  }
  return bytes;
}

function piece(bytes: Buffer, random: () => number): [from: number, to: number] {
  const from = below(random, bytes.length);
  return [from, Math.min(bytes.length, from + 1 + below(random, 1 << below(random, 16)))];
}

function below(random: () => number, limit: number): number {
  return Math.floor(random() * limit);
}
