import { describe, expect, test } from "bun:test";
import type { LiveFormat } from "../../../src/live/index.ts";
import { SampleDecoder } from "../../../src/live/sound/encodings.ts";

const decode = (encoding: LiveFormat["encoding"], bytes: Uint8Array) =>
  Array.from(new SampleDecoder(encoding).decode(bytes), (sample) => Math.round(sample * 32_768) + 0);

/** Decoded values of codes, from the tables of ITU-T G.711, scaled to 16 bits. */
const codes: [LiveFormat["encoding"], number, number][] = [
  ["mulaw", 0xff, 0],
  ["mulaw", 0x7f, 0],
  ["mulaw", 0x80, 32_124],
  ["mulaw", 0x00, -32_124],
  ["mulaw", 0xfe, 8],
  ["mulaw", 0x7e, -8],
  ["mulaw", 0xef, 132],
  ["mulaw", 0x9f, 8316],
  ["alaw", 0xd5, 8],
  ["alaw", 0x55, -8],
  ["alaw", 0xaa, 32_256],
  ["alaw", 0x2a, -32_256],
  ["alaw", 0xc5, 264],
  ["alaw", 0xf5, 528],
];

describe("a decoder of samples", () => {
  test.each(codes)("decodes %s code %d to %d", (encoding, code, sample) => {
    expect(decode(encoding, Uint8Array.of(code))).toEqual([sample]);
  });

  test("decodes 16-bit and 32-bit samples at any position of a message", () => {
    const bytes = new Uint8Array(11);
    const view = new DataView(bytes.buffer);
    view.setInt16(1, -12_345, true);
    view.setFloat32(3, 0.25, true);
    view.setFloat32(7, -0.5, true);
    expect(decode("pcm16", bytes.subarray(1, 3))).toEqual([-12_345]);
    expect(decode("float32", bytes.subarray(3))).toEqual([8192, -16_384]);
  });

  test("takes what is no number for silence, and limits what is too loud", () => {
    const samples = Float32Array.of(Number.NaN, Number.POSITIVE_INFINITY, -1e30, 0.5);
    const decoded = new SampleDecoder("float32").decode(new Uint8Array(samples.buffer));
    expect(Array.from(decoded)).toEqual([0, 0, -2, 0.5]);
  });

  test("carries the bytes of an incomplete sample over to the next message", () => {
    const samples = Int16Array.from({ length: 50 }, (_, at) => 300 * at - 7000);
    const bytes = new Uint8Array(samples.buffer);
    for (const size of [1, 3, 7]) {
      const decoder = new SampleDecoder("pcm16");
      const decoded: number[] = [];
      for (let from = 0; from < bytes.length; from += size) {
        decoded.push(...Array.from(decoder.decode(bytes.subarray(from, from + size)), (one) => one * 32_768));
      }
      expect(decoded).toEqual([...samples]);
    }
  });
});
