import { describe, expect, test } from "bun:test";
import { readFormat, SoundConverter } from "../../src/wyoming/sound.ts";

/** Converts sound in fragments of a size, and returns its samples. */
function convert(sound: Buffer, width: number, channels: number, size = sound.length): number[] {
  const converter = new SoundConverter({ rate: 16_000, width, channels });
  const parts: Uint8Array[] = [];
  for (let at = 0; at < sound.length; at += size) parts.push(converter.convert(sound.subarray(at, at + size)));
  const all = Buffer.concat(parts);
  return Array.from({ length: all.length / 2 }, (_, index) => all.readInt16LE(2 * index));
}

describe("the converter of sound", () => {
  const bytes16 = Buffer.from([0x01, 0x00, 0xff, 0xff, 0xff, 0x7f, 0x00, 0x80]);

  test.each([1, 3, 8])("passes on 16 bits of one channel that arrive in fragments of %p bytes", (size) => {
    expect(convert(bytes16, 2, 1, size)).toEqual([1, -1, 32_767, -32_768]);
  });

  test("reads 8 bits as unsigned, as WAV files have them", () => {
    expect(convert(Buffer.from([0, 128, 255]), 1, 1)).toEqual([-32_768, 0, 32_512]);
  });

  test.each([1, 4, 12])("reads 24 bits in fragments of %p bytes", (size) => {
    const sound = Buffer.from([0x00, 0x01, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x00, 0x00, 0x80]);
    expect(convert(sound, 3, 1, size)).toEqual([1, -1, 32_767, -32_768]);
  });

  test("reads 32 bits", () => {
    const sound = Buffer.alloc(12);
    sound.writeInt32LE(65_536, 0);
    sound.writeInt32LE(2_147_483_647, 4);
    sound.writeInt32LE(-2_147_483_648, 8);
    expect(convert(sound, 4, 1)).toEqual([1, 32_767, -32_768]);
  });

  test.each([1, 5, 8])("mixes two channels to their mean, in fragments of %p bytes", (size) => {
    const sound = Buffer.alloc(8);
    [100, 300, -32_768, 32_767].forEach((sample, index) => {
      sound.writeInt16LE(sample, 2 * index);
    });
    expect(convert(sound, 2, 2, size)).toEqual([200, 0]);
  });

  test("keeps the loudest sound of eight channels", () => {
    const sound = Buffer.alloc(16);
    for (let channel = 0; channel < 8; channel += 1) sound.writeInt16LE(32_767, 2 * channel);
    expect(convert(sound, 2, 8)).toEqual([32_767]);
  });

  test("leaves out the beginning of a frame that never ends", () => {
    expect(convert(Buffer.from([1, 0, 2]), 2, 1)).toEqual([1]);
  });
});

describe("the format of sound", () => {
  test("is read from the data of an event, without its other fields", () => {
    const event = { type: "audio-start", data: { rate: 22_050, width: 2, channels: 1, timestamp: 0 } };
    expect(readFormat(event)).toEqual({ rate: 22_050, width: 2, channels: 1 });
  });

  const needed = "audio-start needs the whole numbers rate, width and channels.";
  const rates = "The rate must be from 8000 to 48000 samples a second.";

  test.each([
    ["without a rate", { width: 2, channels: 1 }, needed],
    ["with a rate that is a text", { rate: "16000", width: 2, channels: 1 }, needed],
    ["with a rate that has a fraction", { rate: 16_000.5, width: 2, channels: 1 }, needed],
    ["of 7,999 samples a second", { rate: 7999, width: 2, channels: 1 }, rates],
    ["of 96,000 samples a second", { rate: 96_000, width: 2, channels: 1 }, rates],
    ["of no bits", { rate: 16_000, width: 0, channels: 1 }, "The width must be from 1 to 4 bytes."],
    ["of 64 bits", { rate: 16_000, width: 8, channels: 1 }, "The width must be from 1 to 4 bytes."],
    ["without channels", { rate: 16_000, width: 2, channels: 0 }, "There must be from 1 to 8 channels."],
    ["of 64 channels", { rate: 16_000, width: 2, channels: 64 }, "There must be from 1 to 8 channels."],
  ])("%s is refused", (_, data, message) => {
    expect(() => readFormat({ type: "audio-start", data })).toThrow(message);
  });
});
