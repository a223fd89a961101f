import { describe, expect, test } from "bun:test";
import type { LiveFormat } from "../../../src/live/index.ts";
import { durationOf, SoundConverter } from "../../../src/live/sound/index.ts";

/** Converts a tone of two seconds with an amplitude of one half, in messages of a given size. */
function convertTone(sampleRate: number, frequency: number, messageBytes = 1999): Int16Array {
  const samples = Float32Array.from({ length: 2 * sampleRate }, (_, at) => {
    return 0.5 * Math.sin((2 * Math.PI * frequency * at) / sampleRate);
  });
  return convert({ encoding: "float32", sampleRate }, new Uint8Array(samples.buffer), messageBytes);
}

function convert(format: LiveFormat, bytes: Uint8Array, messageBytes: number): Int16Array {
  const converter = new SoundConverter(format);
  const parts: Int16Array[] = [];
  for (let from = 0; from < bytes.length; from += messageBytes) {
    converter.convert(bytes.subarray(from, from + messageBytes), (samples) => parts.push(samples));
  }
  parts.push(converter.end());
  return Int16Array.from(parts.flatMap((part) => [...part]));
}

/** Returns the level of the middle of some samples in dB, relative to a tone with an amplitude of one half. */
function levelOf(samples: Int16Array, expected: (at: number) => number = () => 0): number {
  let sum = 0;
  for (let at = 1000; at < 31_000; at++) sum += ((samples[at] ?? 0) / 32_768 - expected(at)) ** 2;
  return 10 * Math.log10(sum / 30_000 / 0.125);
}

const rates = [8000, 11_025, 16_000, 22_050, 24_000, 32_000, 44_100, 47_999, 48_000];

describe("the converter of sound", () => {
  test.each(rates)("keeps a tone of 1 kHz at %d Hz in level and time", (sampleRate) => {
    const samples = convertTone(sampleRate, 1000);
    expect(samples.length).toBe(32_000);
    const error = levelOf(samples, (at) => 0.5 * Math.sin((2 * Math.PI * 1000 * at) / 16_000));
    expect(error).toBeLessThan(-55);
  });

  test.each(rates.filter((rate) => rate > 16_000))("lets nothing of %d Hz fold down from above 8 kHz", (sampleRate) => {
    const highest = sampleRate / 2 - 100;
    for (const frequency of [8050, 9000, 10_500, highest].filter((one) => one <= highest)) {
      expect(levelOf(convertTone(sampleRate, frequency))).toBeLessThan(-75);
    }
  });

  test("adds no images above 4 kHz to sound of 8 kHz", () => {
    const samples = convertTone(8000, 3000);
    expect(levelOf(samples, (at) => 0.5 * Math.sin((2 * Math.PI * 3000 * at) / 16_000))).toBeLessThan(-70);
  });

  test.each([8000, 44_100, 48_000])(
    "returns the same samples of %d Hz, however they are divided into messages",
    (rate) => {
      const whole = convertTone(rate, 440, 1_000_000);
      expect(convertTone(rate, 440, 13)).toEqual(whole);
      expect(convertTone(rate, 440, 100_003)).toEqual(whole);
    },
  );

  test("leaves sound of 16 kHz as it is, and does not hold it back", () => {
    const samples = Int16Array.from({ length: 999 }, (_, at) => 60 * at - 30_000);
    const parts: Int16Array[] = [];
    const converter = new SoundConverter({ encoding: "pcm16", sampleRate: 16_000 });
    converter.convert(new Uint8Array(samples.buffer), (part) => parts.push(part));
    expect(parts).toEqual([samples]);
    expect(converter.end().length).toBe(0);
  });

  test("converts a long message piece by piece", () => {
    const sizes: number[] = [];
    const converter = new SoundConverter({ encoding: "mulaw", sampleRate: 8000 });
    converter.convert(new Uint8Array(1024 * 1024).fill(0xff), (part) => sizes.push(part.length));
    expect(Math.max(...sizes)).toBeLessThanOrEqual(2 * 64 * 1024);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeGreaterThan(2 * 1024 * 1024 - 200);
  });

  test("clips what is louder than full scale", () => {
    const loud = new Uint8Array(Float32Array.of(1.5, -1.5).buffer);
    expect([...convert({ encoding: "float32", sampleRate: 16_000 }, loud, 8)]).toEqual([32_767, -32_768]);
  });
});

test("the duration of sound depends on its rate and its bytes for a sample", () => {
  expect(durationOf({ encoding: "pcm16", sampleRate: 24_000 }, 48_000)).toBe(1);
  expect(durationOf({ encoding: "float32", sampleRate: 48_000 }, 48_000)).toBe(0.25);
  expect(durationOf({ encoding: "alaw", sampleRate: 8000 }, 16_000)).toBe(2);
});
