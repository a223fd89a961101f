import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeWithFfmpeg } from "../media.ts";
import { silentFlac, withMetadata } from "./flac.ts";
import { id3 } from "./id3.ts";
import { type MatroskaOptions, matroska } from "./matroska.ts";
import { sealOggPage } from "./ogg.ts";
import { changeAtom } from "./quicktime.ts";
import { once, type SpecialFile } from "./special-file.ts";
import { strangeFiles } from "./strange-files.ts";
import { tone, wave } from "./wave.ts";

const day = 86_400;
const hour = 3600;

/**
 * Builds files that cost, mislead or confuse, by description, from a tone of two seconds. They assume a limit of 1800 s
 * on the length of recordings.
 */
export function specialFiles(folder: string): Record<string, SpecialFile> {
  const made = (format: string, ...args: string[]) =>
    once(() => {
      const path = join(folder, `made.${format}`);
      makeWithFfmpeg("-f", "s16le", "-ar", "16000", "-ch_layout", "mono", "-i", join(folder, "tone"), ...args, path);
      return readFileSync(path);
    });
  const sound = tone(2);
  writeFileSync(join(folder, "tone"), sound);
  const mp4 = made("m4a", "-c:a", "aac");
  const flac = made("flac");
  const mp3 = made("mp3", "-c:a", "libmp3lame");
  const ogg = made("ogg", "-c:a", "libopus");
  const aiff = made("aiff");
  const mkv = (durationSeconds: number, blocks: MatroskaOptions["blocks"] = [[0, sound]]) =>
    matroska({ durationSeconds, blocks });
  const withEdits = (change: (body: Buffer) => Buffer) => changeAtom(mp4(), ["moov", "trak", "edts", "elst"], change);
  const table = (name: string) => ["moov", "trak", "mdia", "minf", "stbl", name];
  const whole = { seconds: [1.9, 2.2] } as const;
  const anything = { refused: true, seconds: [0, 2.2] } as const;

  return {
    ...strangeFiles(folder),
    "nothing at all": [() => Buffer.alloc(0), { refused: true }],
    "one byte": [() => Buffer.from("R"), { refused: true }],

    "wave that claims a day": [
      () => wave(sound, { rateHz: 8000, bits: 8, claimedBytes: day * 8000 }),
      { seconds: [7, 9] },
    ],
    "flac that claims a day": [() => flacClaiming(flac(), day * 16_000), whole],
    "mp4 that claims a day": [() => mp4Claiming(mp4(), day), whole],
    "matroska that claims a day": [() => mkv(day), whole],
    "mp3 that claims a day": [() => mp3Claiming(mp3(), (day * 16_000) / 576), whole],
    "mp3 that claims one frame": [() => mp3Claiming(mp3(), 1), whole],
    "ogg that claims a day": [() => oggClaiming(ogg(), BigInt(day) * 48_000n), whole],
    "matroska that claims a second": [() => mkv(1), whole],
    "matroska whose sound begins after a day": [() => mkv(2, [[day * 1000, sound]]), whole],
    "matroska with a gap of 59 minutes before each second block": [
      () =>
        mkv(
          4,
          Array.from({ length: 40 }, (_, at): [number, Buffer] => [at * 3_540_000, sound]),
        ),
      { tooLong: true, seconds: [80, 1801] },
    ],
    "mp4 whose samples last days each": [
      () => changeAtom(mp4(), table("stts"), (body) => fillWords(body, 8, 0x7fffffff, 8)),
      { ...anything, tooLong: true, seconds: [0, 1801] },
    ],

    "flac of hours of silence": [() => silentFlac(8000, 4000), { tooLong: true }],
    "flac of hours of silence that claims a second": [
      () => silentFlac(8000, 4000, 8000),
      { tooLong: true, seconds: [0.9, 2] },
    ],
    "flac of 18 hours in one frame of 1 Hz": [
      () => silentFlac(1, 1),
      { refused: true, tooLong: true, undecodable: true },
    ],
    "flac of 655 kHz": [() => silentFlac(655_350, 40), { seconds: [3.9, 4.1] }],
    "matroska whose blocks unpack to a thousand times their size": [
      () => matroska({ durationSeconds: 2, blocks: [[0, Buffer.alloc(64 << 20)]], compressed: true }),
      { tooLong: true, refused: true, seconds: [0, 1801] },
    ],
    "matroska of many blocks that unpack": [
      () =>
        matroska({
          durationSeconds: 2,
          blocks: Array.from({ length: 100 }, (_, at): [number, Buffer] => [at * 32_000, Buffer.alloc(1_024_000)]),
          compressed: true,
        }),
      { tooLong: true },
    ],
    "mp3 behind a tag that unpacks to 200 MiB": [() => Buffer.concat([id3([["TXXX", packedFrame()]]), mp3()]), whole],

    "wave of 64 channels": [() => wave(tone(1, 16_000, 64), { channels: 64 }), { seconds: [0.9, 1.1] }],
    "wave of 64 channels at 192 kHz": [
      () => wave(tone(0.2, 192_000, 64), { channels: 64, rateHz: 192_000 }),
      { seconds: [0.1, 0.3] },
    ],
    "wave of 65535 channels": [() => wave(sound, { channels: 65_535, blockBytes: 65_534 }), anything],
    "wave of no channel": [() => wave(sound, { channels: 0 }), anything],
    "wave of 4 GHz": [() => wave(sound, { rateHz: 0xffffffff }), { ...anything, undecodable: true }],
    "wave of 2 GHz": [() => wave(sound, { rateHz: 0x7fffffff }), { ...anything, undecodable: true }],
    "wave of 1 Hz": [() => wave(sound.subarray(0, 2000), { rateHz: 1 }), { seconds: [990, 1010] }],
    "wave of 1 Hz, too long": [() => wave(sound, { rateHz: 1 }), { tooLong: true }],
    "wave of 0 Hz": [() => wave(sound, { rateHz: 0 }), anything],
    "wave of 0 bits": [() => wave(sound, { bits: 0 }), { refused: true, seconds: [0, 5] }],
    "wave of 65535 bits": [() => wave(sound, { bits: 65_535 }), anything],
    "wave with blocks of no byte": [() => wave(sound, { blockBytes: 0xffff }), anything],
    "aiff of no finite rate": [() => aiffRate(aiff(), "7fff8000000000000000"), anything],
    "aiff of a rate that is no number": [() => aiffRate(aiff(), "7fffc000000000000000"), anything],
    "aiff of a vanishing rate": [() => aiffRate(aiff(), "00000000000000000001"), anything],

    "mp4 with an edit list of four billion entries that aren't there": [
      () => withEdits((body) => fillWords(body, 4, 0xffffffff, 4)),
      anything,
    ],
    "mp4 with an edit list of a million entries": [
      () => withEdits(() => editList(1_000_000, 1, 0)),
      { ...anything, undecodable: true, tooLong: true, seconds: [0, 1801] },
    ],
    "mp4 with an edit of two billion": [() => withEdits(() => editList(1, 0x7fffffff, 0x7fffffff)), anything],
    "mp4 that plays itself a thousand times": [
      () => withEdits(() => editList(1000, 2000, 0)),
      { ...anything, undecodable: true, seconds: [0, 2100], tooLong: true },
    ],
    "mp4 that begins with nothing for weeks": [() => withEdits(() => editList(1, 0x7fffffff, -1)), anything],
    ...Object.fromEntries(
      ["stts", "stsz", "stsc", "stco"].map((name): [string, SpecialFile] => {
        const [from, to] = name === "stsz" ? [8, 12] : [4, 8];
        const bytes = () => changeAtom(mp4(), table(name), (body) => fillWords(body, from, 0xffffffff, to));
        return [`mp4 with four billion entries in ${name}`, [bytes, { ...anything, undecodable: true }]];
      }),
    ),
    "mp4 of atoms in atoms": [() => nestedAtoms(100_000), { refused: true }],
    "matroska of 5000 tracks": [
      () => matroska({ durationSeconds: 2, tracks: 5000, blocks: [[0, sound]] }),
      { ...anything, undecodable: true },
    ],

    "mp3 behind a tag of 20 MiB": [
      () => Buffer.concat([id3([["COMM", Buffer.alloc(20 << 20, "x")]]), mp3()]),
      { ...whole, refused: true },
    ],
    "mp3 behind a picture of 20 MiB": [() => Buffer.concat([id3([["APIC", pictureFrame(20 << 20)]]), mp3()]), whole],
    "mp3 behind a tag that claims 256 MiB": [
      () => Buffer.concat([id3([["TIT2", Buffer.from("\x03x")]], 0x0fffffff), mp3()]),
      anything,
    ],
    "mp3 behind 2000 tags": [
      () =>
        Buffer.concat([
          id3(
            Array.from({ length: 2000 }, (_, at): [string, Buffer] => ["TXXX", Buffer.from(`\x03name ${at}\0value`)]),
          ),
          mp3(),
        ]),
      { ...whole, refused: true },
    ],
    "flac with a comment of 15 MiB": [
      () => withMetadata(flac(), [4, vorbisComment(Buffer.alloc(15 << 20, "x"))]),
      { ...whole, refused: true },
    ],
    "flac with a comment that claims four billion entries": [
      () => withMetadata(flac(), [4, Buffer.concat([Buffer.alloc(4), Buffer.alloc(4, 0xff)])]),
      whole,
    ],
    "flac with a picture that claims four billion bytes": [
      () => withMetadata(flac(), [6, Buffer.alloc(64, 0xff)]),
      { ...whole, refused: true },
    ],
    "ogg of a hundred recordings": [() => Buffer.concat(Array(100).fill(ogg())), { seconds: [1.9, 210] }],
    "wave of an hour with nothing in it": [
      () => wave(new Uint8Array(1000), { claimedBytes: hour * 32_000 }),
      { seconds: [0.01, 0.1] },
    ],
  };
}

/** Builds an MP4 of the tone, truncated at every kilobyte, with its index before and after the audio. */
export async function truncatedMp4s(folder: string): Promise<Record<string, Buffer>> {
  await Bun.write(join(folder, "tone"), tone(2));
  const cut: Record<string, Buffer> = {};
  for (const [where, flags] of [
    ["before", "+faststart"],
    ["behind", "0"],
  ] as const) {
    const path = join(folder, "made.mp4");
    const input = ["-f", "s16le", "-ar", "16000", "-ch_layout", "mono", "-i", join(folder, "tone")];
    makeWithFfmpeg(...input, "-c:a", "aac", "-b:a", "64k", "-movflags", flags, path);
    const bytes = Buffer.from(await Bun.file(path).arrayBuffer());
    for (let size = 1024; size < bytes.length; size += 1024) {
      cut[`mp4 of ${size} bytes, its index ${where} the sound`] = bytes.subarray(0, size);
    }
  }
  return cut;
}

function flacClaiming(flac: Buffer, samples: number): Buffer {
  const made = Buffer.from(flac);
  // 36 bits, from the last four of byte 21 (RFC 9639, 8.2).
  made.writeUInt8(((made[21] ?? 0) & 0xf0) | Math.floor(samples / 2 ** 32), 21);
  made.writeUInt32BE(samples % 2 ** 32, 22);
  return made;
}

function mp4Claiming(mp4: Buffer, seconds: number): Buffer {
  const scaleAndLength = (body: Buffer) => {
    body.writeUInt32BE(seconds * body.readUInt32BE(12), 16);
    return body;
  };
  return changeAtom(
    changeAtom(mp4, ["moov", "mvhd"], scaleAndLength),
    ["moov", "trak", "mdia", "mdhd"],
    scaleAndLength,
  );
}

function mp3Claiming(mp3: Buffer, frames: number): Buffer {
  const made = Buffer.from(mp3);
  const at = ["Xing", "Info"].map((mark) => made.indexOf(mark)).find((found) => found > 0);
  if (at === undefined) throw new Error("the mp3 has no count of its frames");
  made.writeUInt32BE(frames, at + 8);
  return made;
}

function oggClaiming(ogg: Buffer, samples: bigint): Buffer {
  const made = Buffer.from(ogg);
  const at = made.lastIndexOf("OggS");
  made.writeBigUInt64LE(samples, at + 6);
  sealOggPage(made.subarray(at));
  return made;
}

function aiffRate(aiff: Buffer, rate: string): Buffer {
  const made = Buffer.from(aiff);
  made.write(rate, made.indexOf("COMM") + 16, "hex");
  return made;
}

/** Sets every 32-bit word from an offset on, in steps, to a value. */
function fillWords(body: Buffer, from: number, value: number, to: number): Buffer {
  for (let at = from; at < Math.max(to, from + 4) && at + 4 <= body.length; at += 4) body.writeUInt32BE(value, at);
  return body;
}

function editList(entries: number, milliseconds: number, from: number): Buffer {
  const body = Buffer.alloc(8 + entries * 12);
  body.writeUInt32BE(entries, 4);
  for (let at = 8; at < body.length; at += 12) {
    body.writeUInt32BE(milliseconds, at);
    body.writeInt32BE(from, at + 4);
    body.writeUInt32BE(0x10000, at + 8);
  }
  return body;
}

function nestedAtoms(depth: number): Buffer {
  const bytes = Buffer.alloc(depth * 8);
  for (let at = 0; at < bytes.length; at += 8) {
    bytes.writeUInt32BE(bytes.length - at, at);
    bytes.write("moov", at + 4, "latin1");
  }
  return Buffer.concat([Buffer.from("\0\0\0\x10ftypM4A \0\0\0\0", "latin1"), bytes]);
}

function packedFrame(): Buffer {
  return Buffer.from(Bun.deflateSync(new Uint8Array(200 << 20)));
}

function pictureFrame(bytes: number): Buffer {
  return Buffer.concat([Buffer.from("\0image/png\0\x03\0", "latin1"), Buffer.alloc(bytes)]);
}

function vorbisComment(text: Buffer): Buffer {
  const entry = Buffer.concat([Buffer.from("TITLE="), text]);
  const numbers = Buffer.alloc(12);
  numbers.writeUInt32LE(1, 4);
  numbers.writeUInt32LE(entry.length, 8);
  return Buffer.concat([numbers, entry]);
}
