import { deflateSync } from "node:zlib";

export interface MatroskaOptions {
  readonly durationSeconds: number;
  readonly tracks?: number;
  /** Start in milliseconds and 16-bit samples at 16 kHz of each block. */
  readonly blocks: readonly (readonly [number, Uint8Array])[];
  readonly compressed?: boolean;
}

/** Builds a Matroska file of PCM, with blocks optionally compressed by zlib (RFC 9559). */
export function matroska({ durationSeconds, tracks = 1, blocks, compressed = false }: MatroskaOptions): Buffer {
  const duration = Buffer.alloc(8);
  duration.writeDoubleBE(durationSeconds * 1000);
  const rate = Buffer.alloc(8);
  rate.writeDoubleBE(16_000);
  const packing = element(0x6d80, element(0x6240, element(0x5033, uint(0)), element(0x5034, element(0x4254, uint(0)))));
  const track = (number: number) =>
    element(
      0xae,
      ...[element(0xd7, uint(number)), element(0x73c5, uint(number)), element(0x83, uint(2))],
      element(0x86, Buffer.from("A_PCM/INT/LIT")),
      ...(compressed ? [packing] : []),
      element(0xe1, element(0xb5, rate), element(0x9f, uint(1)), element(0x6264, uint(16))),
    );
  return Buffer.concat([
    element(0x1a45dfa3, element(0x4282, Buffer.from("matroska")), element(0x4287, uint(4)), element(0x4285, uint(2))),
    element(
      0x18538067,
      element(0x1549a966, element(0x2ad7b1, uint(1_000_000)), element(0x4489, duration)),
      element(0x1654ae6b, ...Array.from({ length: tracks }, (_, index) => track(index + 1))),
      ...blocks.map(([at, samples]) =>
        element(
          0x1f43b675,
          element(0xe7, uint(at)),
          element(0xa3, Buffer.from([0x81, 0, 0, 0x80]), compressed ? deflateSync(samples) : Buffer.from(samples)),
        ),
      ),
    ),
  ]);
}

/** Builds an element with its size in eight bytes. */
export function element(id: number, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content);
  const head = Buffer.from(id.toString(16).padStart(2, "0"), "hex");
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE(BigInt(body.length) | (1n << 56n));
  return Buffer.concat([head, size, body]);
}

function uint(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}
