import { describe, expect, test } from "bun:test";
import type { LiveEvent } from "../../../../sdk/typescript/src/index.ts";
import { inputSound } from "../../../../src/cli/client/live/input-sound.ts";
import { aheadOf, HeardPosition, inRealTime } from "../../../../src/cli/client/live/sound.ts";
import { proxyFor } from "../../../../src/cli/client/live/web-socket.ts";

const { signal } = new AbortController();

interface Wave {
  readonly tag?: number;
  readonly bits?: number;
  readonly channels?: number;
  readonly rate?: number;
  readonly dataBytes?: number;
  /** Chunks between the format and the sound. */
  readonly extra?: readonly Buffer[];
  readonly subformat?: number;
}

function chunk(id: string, content: Uint8Array, size = content.length): Buffer {
  const head = Buffer.alloc(8);
  head.write(id);
  head.writeUInt32LE(size, 4);
  return Buffer.concat([head, content, Buffer.alloc(content.length % 2)]);
}

function wave({
  tag = 1,
  bits = 16,
  channels = 1,
  rate = 16_000,
  dataBytes = 0xffff_ffff,
  extra = [],
  subformat,
}: Wave) {
  const format = Buffer.alloc(subformat === undefined ? 16 : 40);
  format.writeUInt16LE(subformat === undefined ? tag : 0xfffe, 0);
  format.writeUInt16LE(channels, 2);
  format.writeUInt32LE(rate, 4);
  format.writeUInt16LE(bits, 14);
  if (subformat !== undefined) format.writeUInt16LE(subformat, 24);
  const data = chunk("data", Buffer.alloc(0), dataBytes);
  return Buffer.concat([Buffer.from("RIFF\0\0\0\0WAVE"), chunk("fmt ", format), ...extra, data]);
}

/** Yields bytes in pieces of a few bytes. */
async function* inPieces(bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** Reads all sound of an input. */
async function heard(bytes: Uint8Array, named = {}, size = 7) {
  await using sound = await inputSound(named, signal, () => inPieces(bytes, size));
  const pieces = await Array.fromAsync(sound.pieces(signal));
  return { encoding: sound.encoding, sampleRate: sound.sampleRate, sound: Buffer.concat(pieces).toString("latin1") };
}

describe("sound from standard input", () => {
  test.each<[string, Wave, object]>([
    ["16 bits", { rate: 44_100 }, { encoding: "pcm16", sampleRate: 44_100 }],
    ["floats", { tag: 3, bits: 32, rate: 48_000 }, { encoding: "float32", sampleRate: 48_000 }],
    ["A-law", { tag: 6, bits: 8, rate: 8000 }, { encoding: "alaw", sampleRate: 8000 }],
    ["mu-law", { tag: 7, bits: 8, rate: 8000 }, { encoding: "mulaw", sampleRate: 8000 }],
    ["an extensible format", { subformat: 1 }, { encoding: "pcm16", sampleRate: 16_000 }],
    ["other chunks", { extra: [chunk("LIST", Buffer.alloc(33))] }, { encoding: "pcm16", sampleRate: 16_000 }],
  ])("is WAV with %s, however it is divided", async (_, format, expected) => {
    for (const size of [1, 7, 5000]) {
      expect(await heard(Buffer.concat([wave(format), Buffer.from("sound")]), {}, size)).toEqual({
        ...expected,
        sound: "sound",
      } as never);
    }
  });

  test("ends where the WAV's sound ends, not at the chunks after it", async () => {
    const bytes = Buffer.concat([wave({ dataBytes: 4 }), Buffer.from("soundLIST")]);
    expect((await heard(bytes)).sound).toBe("soun");
    expect((await heard(bytes, {}, 5000)).sound).toBe("soun");
  });

  test.each<[string, Wave, RegExp]>([
    ["two channels", { channels: 2 }, /has 2 channels; convert it with: ffmpeg/],
    ["24 bits", { bits: 24 }, /has the format 1 with 24 bits/],
    ["a rate that is too high", { rate: 96_000 }, /has 96000 samples per second/],
  ])("is refused as WAV with %s", async (_, format, message) => {
    await expect(heard(wave(format))).rejects.toThrow(message);
  });

  test("is refused when it is empty, a WAV without sound, or a compressed format", async () => {
    await expect(heard(new Uint8Array(0))).rejects.toThrow("standard input is empty");
    await expect(heard(wave({}).subarray(0, 30))).rejects.toThrow("has no sound");
    const endless = chunk("LIST", Buffer.alloc(100_000));
    await expect(heard(wave({ extra: [endless] }), {}, 1000)).rejects.toThrow("has no sound");
    await expect(heard(Buffer.from("fLaC and so on"))).rejects.toThrow("is FLAC, not raw sound");
    await expect(heard(wave({}), { sampleRate: 8000 })).rejects.toThrow("are for raw sound");
  });

  test("is raw sound of the named format otherwise", async () => {
    expect(await heard(Buffer.from("R"))).toEqual({ encoding: "pcm16", sampleRate: 16_000, sound: "R" });
    const raw = { encoding: "mulaw", sampleRate: 8000, sound: "RIFFraff" } as const;
    expect(await heard(Buffer.from("RIFFraff"), { encoding: "mulaw" })).toEqual(raw);
    const named = { encoding: "float32", sampleRate: 22_050 } as const;
    expect(await heard(Buffer.from("raw"), named)).toEqual({ ...named, sound: "raw" });
  });
});

describe("sound in real time", () => {
  /** A clock on which sleeping takes no time. */
  function testClock() {
    const clock = { time: 0, slept: 0, now: () => clock.time, sleep: async (_: number) => {} };
    clock.sleep = async (milliseconds) => {
      clock.time += milliseconds;
      clock.slept += milliseconds;
    };
    return clock;
  }
  const format = { encoding: "pcm16", sampleRate: 16_000 } as const;

  test("is sent in pieces of 100 ms, not faster than it plays", async () => {
    const clock = testClock();
    async function* file() {
      yield new Uint8Array(64_000);
      yield new Uint8Array(1000);
    }
    const pieces = await Array.fromAsync(inRealTime(format, file(), signal, clock));
    expect(pieces.map(({ length }) => length)).toEqual([...Array(20).fill(3200), 1000]);
    expect(Math.round(clock.slept)).toBe(2000);
  });

  test("is not held up when its source is slow, and catches up at most 2 s after a pause", async () => {
    const clock = testClock();
    async function* microphone() {
      for (let count = 0; count < 10; count++) {
        clock.time += 100;
        yield new Uint8Array(3200);
      }
      clock.time += 60_000;
      for (let count = 0; count < 100; count++) yield new Uint8Array(3200);
    }
    let count = 0;
    for await (const _ of inRealTime(format, microphone(), signal, clock)) {
      count += 1;
      if (count <= 30) expect(clock.slept).toBe(0);
    }
    expect(clock.slept).toBeWithin(7700, 8100);
  });
});

describe("sound that is sent as fast as a server takes it", () => {
  const format = { encoding: "pcm16", sampleRate: 16_000 } as const;
  const heardUntil = (end: number): LiveEvent => ({
    type: "final",
    turn: "a",
    segment: { number: 0, start: 0, end, text: "", speaker: null, words: [] },
  });
  async function* file(seconds: number) {
    for (let second = 0; second < seconds; second++) yield new Uint8Array(32_000);
  }

  test("is at most four minutes ahead of the words, as long as the server reports any", async () => {
    const heard = new HeardPosition();
    const clock = { now: () => 0, sleep: () => new Promise<void>(() => {}) };
    let sent = 0;
    for await (const _ of aheadOf(heard, format, file(1000), signal, clock)) {
      sent += 1;
      expect(sent - heard.seconds).toBeLessThan(243);
      // The next words arrive once the sound waits for them.
      if (sent - heard.seconds > 240) queueMicrotask(() => heard.note(heardUntil(heard.seconds + 100)));
    }
    expect(sent).toBe(1000);
  });

  test("is sent as it plays in a long silence, and stops with its signal", async () => {
    const sleeps: number[] = [];
    const clock = { now: () => 0, sleep: async (milliseconds: number) => void sleeps.push(milliseconds) };
    const pieces = await Array.fromAsync(aheadOf(new HeardPosition(), format, file(300), signal, clock));
    expect(pieces).toHaveLength(300);
    expect(sleeps).toEqual(Array(59).fill(1000));
    const stop = new AbortController();
    const sending = Array.fromAsync(aheadOf(new HeardPosition(), format, file(300), stop.signal));
    stop.abort(new Error("enough"));
    await expect(sending).rejects.toThrow("enough");
  });
});

test.each<[string, Record<string, string>, string | null]>([
  ["wss://a.example.org/x", { HTTPS_PROXY: "http://proxy:1" }, "http://proxy:1"],
  ["wss://a.example.org/x", { HTTPS_PROXY: "http://proxy:1", https_proxy: "http://lower:1" }, "http://lower:1"],
  ["wss://a.example.org/x", { HTTP_PROXY: "http://proxy:1" }, null],
  ["ws://a.example.org/x", { HTTP_PROXY: "http://proxy:1" }, "http://proxy:1"],
  ["ws://a.example.org/x", { HTTP_PROXY: "http://proxy:1", NO_PROXY: "b.org, .example.org" }, null],
  ["ws://a.example.org/x", { HTTP_PROXY: "http://proxy:1", NO_PROXY: "example.org" }, null],
  ["ws://badexample.org/x", { HTTP_PROXY: "http://proxy:1", NO_PROXY: "example.org" }, "http://proxy:1"],
  ["ws://a.org:8080/x", { HTTP_PROXY: "http://proxy:1", NO_PROXY: "a.org:8080" }, null],
  ["ws://a.org:8081/x", { HTTP_PROXY: "http://proxy:1", no_proxy: "a.org:8080" }, "http://proxy:1"],
  ["ws://[::1]:8080/x", { HTTP_PROXY: "http://proxy:1", NO_PROXY: "::1,[::1]" }, null],
  ["ws://a.org/x", { HTTP_PROXY: "http://proxy:1", NO_PROXY: "*" }, null],
])("the proxy of %s with %p is %p", (url, environment, proxy) => {
  expect(proxyFor(new URL(url), environment)).toBe(proxy);
});
