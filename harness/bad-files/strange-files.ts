import { readFileSync } from "node:fs";
import { join } from "node:path";
import { makeWithFfmpeg } from "../media.ts";
import { randomNumbers } from "../random-numbers.ts";
import { element, matroska } from "./matroska.ts";
import { oggWithSerial } from "./ogg.ts";
import { once, type SpecialFile } from "./special-file.ts";
import { tone, wave } from "./wave.ts";

/**
 * Builds files with a strange structure: elements that contain themselves, are repeated a thousand times, or change
 * their kind. They are made from tones of two seconds at `folder/tone`.
 */
export function strangeFiles(folder: string): Record<string, SpecialFile> {
  const made = (format: string, ...args: string[]) => {
    const path = join(folder, `strange.${format}`);
    makeWithFfmpeg("-f", "s16le", "-ar", "16000", "-ch_layout", "mono", "-i", join(folder, "tone"), ...args, path);
    return readFileSync(path);
  };
  const opus = (channels: number) => made("ogg", "-c:a", "libopus", "-ac", String(channels));
  const adts = (rateHz: number, channels: number) => made("aac", "-ar", String(rateHz), "-ac", String(channels));
  const mp3 = (rateHz: number, channels: number) =>
    made("mp3", "-c:a", "libmp3lame", "-ar", String(rateHz), "-ac", String(channels));
  const mono = once(() => opus(1));
  const inParts = ["-c:a", "aac", "-frag_duration", "500000", "-movflags"];
  const fragmented = once(() => made("mp4", ...inParts, "frag_keyframe+empty_moov"));
  const firstFragment = () => fragmented().indexOf("moof") - 4;
  const sound = tone(2);
  const mkv = () => matroska({ durationSeconds: 2, blocks: [[0, sound]] });
  const whole = { seconds: [1.9, 2.2] } as const;
  const anything = { refused: true, undecodable: true, tooLong: true, seconds: [0, 1801] } as const;
  const random = randomNumbers(11);

  return {
    "a megabyte of 0xff": [() => Buffer.alloc(1 << 20, 0xff), { refused: true }],
    "a megabyte of nothing": [() => Buffer.alloc(1 << 20), { refused: true }],
    "a megabyte of anything": [() => Buffer.from(Uint8Array.from({ length: 1 << 20 }, () => random() * 256)), anything],

    "matroska with tags in tags, 10,000 deep": [() => Buffer.concat([mkv(), nestedTags(10_000)]), anything],
    "matroska with a segment in its segment": [() => selfContained(mkv()), anything],
    "matroska of no size, all of it": [() => withoutSizes(mkv()), anything],

    "mp4 whose fragments come a hundred times": [
      () => Buffer.concat([fragmented(), ...Array<Buffer>(100).fill(fragmented().subarray(firstFragment()))]),
      { seconds: [160, 170] },
    ],
    "mp4 whose index of fragments leads to itself": [
      () => indexToItself(made("mp4", ...inParts, "dash+global_sidx")),
      anything,
    ],
    "mp4 that lists each fragment at the first one's place": [
      () => fragmentsAt(fragmented(), BigInt(firstFragment())),
      { ...anything, seconds: [1.9, 2.2] },
    ],

    // ffmpeg supports no change of channels in Opus and ends there without a fault.
    "opus whose channels change from recording to recording": [
      () => Buffer.concat([mono(), opus(2), opus(6), mono()].map(oggWithSerial)),
      { seconds: [1.9, 8.5] },
    ],
    "opus of a thousand streams side by side": [
      () =>
        Buffer.concat([
          ...Array.from({ length: 1000 }, (_, at) => oggWithSerial(firstPage(mono()), at + 1)),
          oggWithSerial(mono(), 5000),
        ]),
      anything,
    ],
    "opus of a hundred recordings of two seconds": [
      () => Buffer.concat(Array.from({ length: 100 }, (_, at) => oggWithSerial(mono(), at + 1))),
      { seconds: [190, 210] },
    ],
    // It has no time stamps. Those that ffmpeg generates run at the first part's rate, and their gaps become silence.
    "aac whose rate and channels change": [
      () => Buffer.concat([adts(16_000, 1), adts(48_000, 2), adts(8000, 6), adts(96_000, 1)]),
      { seconds: [1.9, 30] },
    ],
    "mp3 whose rate and channels change": [
      () => Buffer.concat([mp3(16_000, 1), mp3(48_000, 2), mp3(8000, 1), mp3(44_100, 2)]),
      { seconds: [1.9, 9] },
    ],

    "wave with 200,000 chunks before its sound": [
      () => withChunks(wave(sound), Buffer.alloc(8 * 200_000, "junk\0\0\0\0", "latin1")),
      { ...whole, refused: true },
    ],
    "wave whose sound comes behind a chunk that claims all that can be": [
      () => withChunks(wave(sound), Buffer.from("junk\xff\xff\xff\xff", "latin1")),
      anything,
    ],
    "wave in itself, 1000 deep": [() => Buffer.concat(Array<Buffer>(1000).fill(wave(new Uint8Array(0)))), anything],
  };
}

function nestedTags(depth: number): Buffer {
  // Headers only, each with a size that includes all following ones; nesting real elements would copy them each time.
  const heads = Array.from({ length: depth }, (_, level) => {
    const head = Buffer.from("67c80100000000000000", "hex");
    head.writeUIntBE((depth - level - 1) * 10, 4, 6);
    return head;
  });
  return element(0x1254c367, element(0x7373, ...heads));
}

/** Makes the segment's first element a segment of the same size. */
function selfContained(file: Buffer): Buffer {
  const at = file.indexOf(Buffer.from("18538067", "hex"));
  return Buffer.concat([
    file.subarray(0, at),
    ...Array<Buffer>(5000).fill(file.subarray(at, at + 12)),
    file.subarray(at + 12),
  ]);
}

/** Marks the lengths of segment and clusters as unknown. */
function withoutSizes(file: Buffer): Buffer {
  const made = Buffer.from(file);
  for (const id of ["18538067", "1f43b675"]) {
    const mark = Buffer.from(id, "hex");
    for (let at = made.indexOf(mark); at >= 0; at = made.indexOf(mark, at + 4)) made.fill(0xff, at + 5, at + 12);
  }
  return made;
}

/** Makes the first reference of the index (ISO/IEC 14496-12, 8.16.3) refer to an index of size 0. */
function indexToItself(mp4: Buffer): Buffer {
  const made = Buffer.from(mp4);
  const at = made.indexOf("sidx") + 4;
  const isLong = made[at] !== 0;
  const references = at + 12 + (isLong ? 16 : 8) + 2;
  const count = made.readUInt16BE(references);
  for (let index = 0; index < count; index++) made.writeUInt32BE(0x80000000, references + 2 + index * 12);
  return made;
}

/** Sets each entry of the table at the file's end (8.8.10) to this offset. */
function fragmentsAt(mp4: Buffer, place: bigint): Buffer {
  const made = Buffer.from(mp4);
  const at = made.indexOf("tfra") + 4;
  const count = made.readUInt32BE(at + 12);
  const entryBytes = made[at] === 0 ? 11 : 19;
  for (let index = 0; index < count; index++) {
    const entry = at + 16 + index * entryBytes;
    if (made[at] === 0) made.writeUInt32BE(Number(place), entry + 4);
    else made.writeBigUInt64BE(place, entry + 8);
  }
  return made;
}

function firstPage(ogg: Buffer): Buffer {
  return ogg.subarray(0, ogg.indexOf("OggS", 4));
}

function withChunks(file: Buffer, chunks: Buffer): Buffer {
  return Buffer.concat([file.subarray(0, 36), chunks, file.subarray(36)]);
}
