import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { available, corpusPath } from "../../harness/checkout.ts";
import { doubtAbout } from "../../src/folders/completeness.ts";

const doubt = (content: Buffer) =>
  doubtAbout(async (position, length) => content.subarray(position, position + length), content.length);

const sound = Buffer.alloc(5000, 7);

function wave(declared: number): Buffer {
  const header = Buffer.alloc(44);
  header.write("RIFF", 0, "latin1");
  header.writeUInt32LE(declared, 4);
  header.write("WAVE", 8, "latin1");
  return Buffer.concat([header, sound]);
}

function aiff(declared: number): Buffer {
  const file = wave(0);
  file.write("FORM", 0, "latin1");
  file.writeUInt32BE(declared, 4);
  file.write("AIFF", 8, "latin1");
  return file;
}

function rf64(declared: number): Buffer {
  const file = wave(0xffff_ffff);
  file.write("RF64", 0, "latin1");
  file.write("ds64", 12, "latin1");
  file.writeBigUInt64LE(BigInt(declared), 20);
  return file;
}

function box(type: string, body: Buffer, size = body.length + 8): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(size, 0);
  head.write(type, 4, "latin1");
  return Buffer.concat([head, body]);
}

/** A box whose size has 64 bits. */
function largeBox(type: string, body: Buffer): Buffer {
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE(BigInt(body.length + 16));
  return box(type, Buffer.concat([size, body]), 1);
}

const ftyp = box("ftyp", Buffer.from("isom0000"));
const moov = box("moov", sound);
const mdat = box("mdat", sound);

describe("a file seems to be", () => {
  test.each([
    ["an MP3 file", sound],
    ["a WAVE file", wave(44 + 5000 - 8)],
    ["a WAVE file without its padding byte", wave(44 + 5000 - 8 + 1)],
    ["a WAVE stream of unknown length", wave(0xffff_ffff)],
    ["a WAVE stream of SoX", wave(0x7f00_0024)],
    ["an AIFF stream of SoX", aiff(0x7f00_0050)],
    ["an AIFF stream of unknown length", aiff(0)],
    ["an RF64 file", rf64(44 + 5000 - 8)],
    ["an MP4 file with its index first", Buffer.concat([ftyp, moov, mdat])],
    ["an MP4 file with its index last", Buffer.concat([ftyp, mdat, moov])],
    ["a fragmented MP4 file", Buffer.concat([ftyp, box("moof", sound), mdat])],
    ["an MP4 file with a large box", Buffer.concat([ftyp, largeBox("mdat", sound), moov])],
    ["an MP4 file whose last box has no size", Buffer.concat([ftyp, moov, box("mdat", sound, 0)])],
  ])("complete: %s", async (_, content) => {
    expect(await doubt(content)).toBeNull();
  });

  test.each([
    ["an empty file", "empty", Buffer.alloc(0)],
    ["a file that ends with zeros", "zeros", Buffer.concat([sound, Buffer.alloc(4096)])],
    ["a short file of zeros", "zeros", Buffer.alloc(10)],
    ["a WAVE file that was cut off", "short_wave", wave(44 + 6000)],
    ["an AIFF file that was cut off", "cut_off", aiff(44 + 6000)],
    ["an RF64 file that was cut off", "short_wave", rf64(5_000_000_000)],
    ["the beginning of a WAVE header", "short_wave", wave(100).subarray(0, 20)],
    [
      "an MP3 file whose picture has not arrived",
      "cut_off",
      Buffer.concat([Buffer.from("ID3\x04\0\0\0\x7f\0\0"), sound]),
    ],
    ["an MP4 file without an index", "short_mp4", Buffer.concat([ftyp, mdat])],
    [
      "an MP4 file without an index whose sound has no size yet",
      "short_mp4",
      Buffer.concat([ftyp, box("mdat", sound, 0)]),
    ],
    ["an MP4 file that was cut off", "short_mp4", Buffer.concat([ftyp, moov, mdat]).subarray(0, -10)],
    ["an MP4 file with a part that was not written", "short_mp4", Buffer.concat([ftyp, Buffer.alloc(5000), moov])],
    ["an MP4 file with a box of an impossible size", "short_mp4", Buffer.concat([ftyp, box("moov", sound, 4)])],
  ] as const)("incomplete: %s", async (_, expected, content) => {
    expect(await doubt(content)).toBe(expected);
  });
});

const recordings = [
  ...["jfk.mp3", "jfk-vbr.mp3", "jfk-mp3-named.wav", "jfk.flac", "jfk.opus", "jfk-vorbis.ogg", "jfk.webm", "jfk.aiff"],
  ...["jfk-two-audio-tracks.mkv", "jfk.wma", "jfk.m4a", "jfk-video.mov", "jfk-24bit.wav", "jfk-video.webm"],
].map((name) => `formats/${name}`);
const ready = available("completeness of real recordings", ...recordings.map(corpusPath));

describe.if(ready)("a real recording", () => {
  test.each(recordings)("seems to be incomplete until all of it is there: %s", async (name) => {
    const content = readFileSync(corpusPath(name));
    expect(await doubt(content)).toBeNull();
    for (const share of [0.02, 0.2, 0.5, 0.9, 0.99]) {
      const part = content.subarray(0, content.length * share);
      expect([share, await doubt(part)]).toEqual([share, expect.any(String)]);
    }
  });

  test("in FLAC is complete with the last byte of its last frame, and with a tag of ID3v1 after it", async () => {
    for (const name of readdirSync(corpusPath("single")).filter((each) => each.endsWith(".flac"))) {
      const content = readFileSync(corpusPath(`single/${name}`));
      const tag = Buffer.alloc(128, " ");
      tag.write("TAG");
      expect([name, await doubt(content), await doubt(Buffer.concat([content, tag]))]).toEqual([name, null, null]);
      for (const missing of [1, 3, 40])
        expect([name, await doubt(content.subarray(0, -missing))]).toEqual([name, "cut_off"]);
    }
  });

  test("whose writer does not know its length seems to be complete", async () => {
    const content = readFileSync(corpusPath("formats/jfk.webm"));
    // The size of the segment, which follows the header, with all bits set.
    const segment = content.indexOf(Buffer.from("18538067", "hex"));
    content.fill(0xff, segment + 5, segment + 12).writeUInt8(1, segment + 4);
    expect(await doubt(content.subarray(0, -1000))).toBeNull();
  });

  test("with damaged numbers in its header is no error", async () => {
    const doubts = new Set<string | null>();
    for (const name of recordings) {
      const content = readFileSync(corpusPath(name));
      for (let at = 0; at < 200; at++) {
        const damaged = Buffer.from(content.subarray(0, 20_000)).fill(0xff, at, at + 5);
        doubts.add(await doubt(damaged));
      }
      for (let length = 0; length < 100; length++) doubts.add(await doubt(content.subarray(0, length)));
    }
    expect(doubts).toContain("cut_off");
  });
});
