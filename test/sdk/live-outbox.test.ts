import { expect, test } from "bun:test";
import { randomNumbers } from "../../harness/random-numbers.ts";
import { Outbox } from "../../sdk/typescript/src/live/outbox.ts";

const SECOND = 32_000;

/** Returns all frames that wait. */
function drained(outbox: Outbox): (string | Uint8Array)[] {
  const frames: (string | Uint8Array)[] = [];
  for (let frame = outbox.next(); frame !== null; frame = outbox.next()) frames.push(frame);
  return frames;
}

const sizesOf = (frames: (string | Uint8Array)[]) => frames.map((frame) => frame.length);

test("whatever a lost connection took along, the server gets the sound once and in order", () => {
  const random = randomNumbers(7);
  for (let round = 0; round < 50; round++) {
    const outbox = new Outbox("float32", 48_000);
    const sound = Uint8Array.from({ length: 40_000 }, () => random() * 256);
    let added = 0;
    let received = Buffer.alloc(0);
    while (added < sound.length || !outbox.isEmpty) {
      const size = Math.floor(random() * 1500);
      outbox.addSound(sound.subarray(added, added + size));
      added += size;
      for (let count = random() * 3; count > 0; count--) {
        const frame = outbox.next();
        if (frame instanceof Uint8Array) received = Buffer.concat([received, frame]);
      }
      if (random() > 0.2) continue;
      const left = received.length - 4 * Math.floor((random() * received.length) / 4);
      received = received.subarray(0, left);
      expect(outbox.rewind(left / 4 / 48_000)).toBe(true);
    }
    expect(received.equals(sound)).toBe(true);
  }
});

test("sound that waits is joined to frames of at most 64 KiB, but not across a message", () => {
  const outbox = new Outbox("pcm16", 16_000);
  for (let count = 0; count < 150; count++) outbox.addSound(new Uint8Array(640));
  outbox.addMessage({ type: "commit" });
  outbox.addSound(new Uint8Array(640));
  expect(sizesOf(drained(outbox))).toEqual([65_280, 30_720, '{"type":"commit"}'.length, 640]);
});

test("a message is sent again unless the server has sound that was sent after it", () => {
  const outbox = new Outbox("mulaw", 8000);
  outbox.addSound(new Uint8Array(8000));
  outbox.addMessage({ type: "commit" });
  outbox.addSound(new Uint8Array(8000));
  drained(outbox);
  outbox.rewind(1);
  expect(sizesOf(drained(outbox))).toEqual(['{"type":"commit"}'.length, 8000]);
  outbox.rewind(1.5);
  expect(sizesOf(drained(outbox))).toEqual([4000]);
});

test("it is full when two and a half minutes wait, and forgets sound only after it was sent", () => {
  const outbox = new Outbox("pcm16", 16_000);
  for (let second = 0; second < 151; second++) {
    expect(outbox.isFull).toBe(false);
    outbox.addSound(new Uint8Array(SECOND));
  }
  expect(outbox.isFull).toBe(true);
  drained(outbox);
  expect(outbox.isFull).toBe(false);
  expect(outbox.rewind(0)).toBe(true);
  drained(outbox);
  for (let second = 0; second < 150; second++) outbox.addSound(new Uint8Array(SECOND));
  drained(outbox);
  expect(outbox.rewind(30)).toBe(false);
  expect(outbox.rewind(60)).toBe(true);
});
