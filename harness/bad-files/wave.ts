export interface WaveFormat {
  readonly channels?: number;
  readonly rateHz?: number;
  readonly bits?: number;
  readonly blockBytes?: number;
  /** The length in the header; default: the true length. */
  readonly claimedBytes?: number;
}

/** Builds a WAVE file with any header (RIFF, "Multimedia Programming Interface and Data Specifications 1.0"). */
export function wave(samples: Uint8Array, format: WaveFormat = {}): Buffer {
  const { channels = 1, rateHz = 16_000, bits = 16 } = format;
  const blockBytes = format.blockBytes ?? ((channels * bits) / 8) & 0xffff;
  const claimedBytes = format.claimedBytes ?? samples.length;
  const header = Buffer.alloc(44);
  header.write("RIFF", 0, "latin1");
  header.writeUInt32LE(Math.min(claimedBytes + 36, 0xffffffff), 4);
  header.write("WAVEfmt ", 8, "latin1");
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(rateHz, 24);
  header.writeUInt32LE((rateHz * blockBytes) >>> 0, 28);
  header.writeUInt16LE(blockBytes, 32);
  header.writeUInt16LE(bits, 34);
  header.write("data", 36, "latin1");
  header.writeUInt32LE(claimedBytes, 40);
  return Buffer.concat([header, samples]);
}

export function tone(seconds: number, rateHz = 16_000, channels = 1): Buffer {
  const samples = new Int16Array(Math.round(seconds * rateHz) * channels);
  for (let at = 0; at < samples.length; at++) {
    samples[at] = 8000 * Math.sin((2 * Math.PI * 440 * Math.floor(at / channels)) / rateHz);
  }
  return Buffer.from(samples.buffer);
}
