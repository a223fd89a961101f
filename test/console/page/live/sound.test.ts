import { describe, expect, test } from "bun:test";
import { Frames, levelOf } from "../../../../src/console/page/live/frames.ts";
import { SoundBuffer } from "../../../../src/console/page/live/sound-buffer.ts";

describe("the frames of recorded sound", () => {
  test("last a tenth of a second, however the browser divides the sound", () => {
    const frames = new Frames(48_000);
    const block = new Float32Array(128).fill(0.5);
    const made = Array.from({ length: 375 }, () => frames.add([block])).flat();
    expect(made.map(({ length }) => length)).toEqual(new Array(10).fill(4800));
    expect(new Set(made.flatMap((frame) => [...frame]))).toEqual(new Set([16384]));
  });

  test("mix the channels, and limit what is louder than full scale", () => {
    const frames = new Frames(40);
    const left = Float32Array.of(1, 0, -3, 0.5);
    const right = Float32Array.of(0, 0, -3, 0.5);
    expect([...(frames.add([left, right])[0] ?? [])]).toEqual([16384, 0, -32767, 16384]);
    expect(frames.add([])).toEqual([]);
  });

  test("have a level from silence to full scale", () => {
    const at = (value: number) => levelOf(new Int16Array(100).fill(value));
    expect(at(0)).toBe(0);
    expect(at(10)).toBe(0);
    expect(at(32_767)).toBe(1);
    expect(at(1036)).toBeCloseTo(0.5, 2);
  });
});

describe("the sound of a session", () => {
  const frame = (...samples: number[]) => Int16Array.from(samples);
  const rest = (buffer: SoundBuffer) => {
    const samples: number[] = [];
    for (let taken = buffer.take(); taken !== null; taken = buffer.take()) samples.push(...taken);
    return samples;
  };

  test("is sent once, and again from where the server lacks it", () => {
    const buffer = new SoundBuffer(100);
    buffer.add(frame(0, 1, 2));
    buffer.add(frame(3, 4, 5));
    expect(rest(buffer)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(rest(buffer)).toEqual([]);
    buffer.continueAt(2);
    expect(buffer.waiting).toBe(4);
    expect(rest(buffer)).toEqual([2, 3, 4, 5]);
  });

  test("is stored up to a maximum of samples", () => {
    const buffer = new SoundBuffer(6);
    for (let index = 0; index < 10; index++) {
      buffer.add(frame(index * 2, index * 2 + 1));
      rest(buffer);
    }
    expect(buffer.end).toBe(20);
    buffer.continueAt(14);
    expect(rest(buffer)).toEqual([14, 15, 16, 17, 18, 19]);
  });

  test("closes up when too much of it waits for a connection", () => {
    const buffer = new SoundBuffer(4);
    buffer.add(frame(0, 1));
    rest(buffer);
    for (const samples of [frame(2, 3), frame(4, 5), frame(6, 7), frame(8, 9)]) buffer.add(samples);
    expect(buffer.end).toBe(6);
    expect(rest(buffer)).toEqual([6, 7, 8, 9]);
  });

  test("goes on where the server is if that sound is no longer stored", () => {
    const buffer = new SoundBuffer(4);
    for (const samples of [frame(0, 1), frame(2, 3), frame(4, 5)]) {
      buffer.add(samples);
      rest(buffer);
    }
    buffer.continueAt(1);
    expect(rest(buffer)).toEqual([2, 3, 4, 5]);
    expect(buffer.end).toBe(5);
  });

  test("follows what the server has after the page was loaded again", () => {
    const buffer = new SoundBuffer(100);
    buffer.add(frame(1, 2));
    buffer.beginAt(50);
    expect([rest(buffer), buffer.end]).toEqual([[1, 2], 52]);
    buffer.add(frame(3));
    buffer.continueAt(51);
    expect(rest(buffer)).toEqual([2, 3]);
  });
});
