/**
 * Builds a FLAC file of silence, some 16 bytes for each 65,535 samples (RFC 9639: frames of one constant subframe).
 *
 * @param claimedSamples the number in STREAMINFO; default: the true number
 */
export function silentFlac(rateHz: number, frames: number, claimedSamples = frames * BLOCK): Buffer {
  const info = Buffer.alloc(34);
  info.writeUInt16BE(BLOCK, 0);
  info.writeUInt16BE(BLOCK, 2);
  // 20 bits of rate, 3 of channels less one, 5 of bits a sample less one, 36 of samples.
  const packed = (BigInt(rateHz) << 44n) | (0n << 41n) | (15n << 36n) | BigInt(claimedSamples);
  info.writeBigUInt64BE(packed, 10);
  return Buffer.concat([
    flacHead(block(0, info, true)),
    ...Array.from({ length: frames }, (_, index) => silentFrame(index)),
  ]);
}

/** Inserts metadata blocks after the STREAMINFO of a file, e.g. `[6, picture]`. */
export function withMetadata(flac: Uint8Array, ...blocks: readonly (readonly [type: number, body: Buffer])[]): Buffer {
  const info = Buffer.from(flac.subarray(4, 42));
  info.writeUInt8((info[0] ?? 0) & 0x7f, 0);
  let rest = 42;
  for (let last = ((flac[4] ?? 0) & 0x80) !== 0; !last; ) {
    last = ((flac[rest] ?? 0x80) & 0x80) !== 0;
    rest += 4 + Buffer.from(flac).readUIntBE(rest + 1, 3);
  }
  const made = blocks.map(([type, body], index) => block(type, body, index === blocks.length - 1));
  return Buffer.concat([flacHead(info), ...made, flac.subarray(rest)]);
}

const BLOCK = 65_535;

function flacHead(...blocks: readonly Buffer[]): Buffer {
  return Buffer.concat([Buffer.from("fLaC"), ...blocks]);
}

function block(type: number, body: Buffer, isLast: boolean): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt8((isLast ? 0x80 : 0) | type, 0);
  head.writeUIntBE(body.length, 1, 3);
  return Buffer.concat([head, body]);
}

function silentFrame(index: number): Buffer {
  // Fixed block size, stored at the header's end; the sample rate of STREAMINFO; mono, 16 bits.
  const size = Buffer.alloc(2);
  size.writeUInt16BE(BLOCK - 1);
  const header = Buffer.concat([Buffer.from([0xff, 0xf8, 0x70, 0x08]), codedNumber(index), size]);
  const subframe = Buffer.from([0, 0, 0]);
  const frame = Buffer.concat([header, Buffer.from([crc(header, 8, 0x07)]), subframe]);
  const check = Buffer.alloc(2);
  check.writeUInt16BE(crc(frame, 16, 0x8005));
  return Buffer.concat([frame, check]);
}

/** Encodes a frame's number like UTF-8. */
function codedNumber(value: number): Buffer {
  if (value < 0x80) return Buffer.from([value]);
  if (value < 0x800) return Buffer.from([0xc0 | (value >> 6), 0x80 | (value & 63)]);
  return Buffer.from([0xe0 | (value >> 12), 0x80 | ((value >> 6) & 63), 0x80 | (value & 63)]);
}

function crc(bytes: Uint8Array, bits: number, polynomial: number): number {
  const top = 1 << (bits - 1);
  const mask = (top << 1) - 1;
  let sum = 0;
  for (const byte of bytes) {
    sum ^= byte << (bits - 8);
    for (let bit = 0; bit < 8; bit++) sum = (sum & top) === 0 ? (sum << 1) & mask : ((sum << 1) ^ polynomial) & mask;
  }
  return sum;
}
