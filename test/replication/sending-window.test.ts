import { expect, test } from "bun:test";
import { PIECE_BYTES, ProtocolError } from "../../src/replication/messages.ts";
import { SendingWindow } from "../../src/replication/sending-window.ts";

/** Sends pieces on a network for two minutes. @returns the longest time that a piece needs after the first minute */
function longestDelay(bytesPerSecond: number, roundTripMilliseconds: number): number {
  let now = 0;
  const window = new SendingWindow(() => now);
  const underway: { readonly at: number; readonly storedAt: number; readonly total: number }[] = [];
  let [sent, isFreeAt, longest] = [0, 0, 0];
  for (; now < 120_000; now++) {
    while (underway[0] !== undefined && underway[0].storedAt <= now) {
      const { at, total } = underway.shift() ?? { at: 0, total: 0 };
      window.stored(total);
      if (now > 60_000) longest = Math.max(longest, now - at);
    }
    while (window.isOpen) {
      window.sent(PIECE_BYTES);
      sent += PIECE_BYTES;
      isFreeAt = Math.max(isFreeAt, now) + (PIECE_BYTES / bytesPerSecond) * 1000;
      underway.push({ at: now, storedAt: isFreeAt + roundTripMilliseconds, total: sent });
    }
  }
  return longest;
}

test.each([
  ["1 Gbit/s", 125_000_000, 1],
  ["1 Gbit/s to another continent", 125_000_000, 100],
  ["100 Mbit/s", 12_500_000, 20],
  ["20 Mbit/s", 2_500_000, 40],
])("content is on its way for little more than 0.2 s, on a network of %s", (_, bytesPerSecond, roundTrip) => {
  expect(longestDelay(bytesPerSecond, roundTrip)).toBeLessThan(roundTrip + 320);
});

test("a standby cannot report what was not sent, or less than before", () => {
  const window = new SendingWindow(() => 0);
  window.sent(100);
  window.stored(60);
  expect(() => window.stored(59)).toThrow(ProtocolError);
  expect(() => window.stored(101)).toThrow(ProtocolError);
  expect(window.isOpen).toBe(true);
});
