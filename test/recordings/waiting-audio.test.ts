import { expect, test } from "bun:test";
import { Shelf } from "../support/shelf.ts";

test("the waiting audio is that of open recordings, without what is processed already", () => {
  const shelf = new Shelf();
  const { recordings } = shelf;
  expect(recordings.open.waitingAudioSeconds()).toBe(0);
  // No recording is completed yet: 128 kbit/s, and ten minutes for a link of unknown size.
  shelf.create({ sizeBytes: 160_000 });
  shelf.create({ sizeBytes: null, sourceUrl: "https://example.org/talk" });
  expect(recordings.open.waitingAudioSeconds()).toBe(10 + 600);
  const decoded = shelf.create({ sizeBytes: 10_000 });
  recordings.claim(decoded.id);
  recordings.describe(decoded.id, { durationSeconds: 100 });
  recordings.progress(decoded.id, "transcribe", 25);
  expect(recordings.open.waitingAudioSeconds()).toBe(10 + 600 + 75);
  recordings.complete(decoded.id, []);
  // Now 100 bytes are a second, and a recording of unknown size has 100 s.
  expect(recordings.open.waitingAudioSeconds()).toBe(1600 + 100);
});
