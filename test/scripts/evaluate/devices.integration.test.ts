import { afterAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { plainWords } from "../../../harness/wer.ts";
import { differenceOf, equalShare, StoredTexts } from "../../../tools/evaluate/devices.ts";

const directory = temporaryDirectory();
afterAll(() => directory[Symbol.dispose]());

/** The scorer uses Whisper's own normalizer; this one only splits words. */
const normalise = (_: string, text: string) => plainWords(text);

test.each<[what: string, cpu: string, gpu: string, apart: [errors: number, length: number], share: number]>([
  ["equal transcripts", "We go home.", "we go home", [0, 3], 1],
  ["a substituted word", "we go home now", "we go home know", [1, 4], 0.75],
  ["an inserted word", "we go home now", "and we go home now", [1, 4], 0.75],
  ["a deleted word", "we go home now", "we go home", [1, 4], 0.75],
  ["a word split in two", "a shopboy came in", "a shop boy came in", [2, 4], 0.5],
  ["many inserted words", "we", "and so we go home", [4, 1], 0],
  ["words where the CPU has none", "", "you", [1, 0], 0],
  ["no words on both", "", "", [0, 0], 1],
])("the difference of two devices is measured for %s", (_, cpu, gpu, [errors, length], share) => {
  const { differing } = differenceOf(normalise, { path: "", language: "en", referenceText: "", cpu, gpu });
  expect(differing).toEqual({ errors, length });
  expect(equalShare(differing)).toBe(share);
});

test("each device's own errors are counted, in characters for a language without spaces", () => {
  const english = { path: "", language: "en", referenceText: "we go home", cpu: "we go home", gpu: "we go alone" };
  expect(differenceOf(normalise, english)).toMatchObject({ onCpu: { errors: 0 }, onGpu: { errors: 1, length: 3 } });
  const chinese = { path: "", language: "zh", referenceText: "桥下垂直净空", cpu: "桥上垂直净空", gpu: "桥下垂直净空" };
  expect(differenceOf(normalise, chinese)).toEqual({
    differing: { errors: 1, length: 6 },
    onCpu: { errors: 1, length: 6 },
    onGpu: { errors: 0, length: 6 },
  });
});

test("an interrupted run continues with its stored transcripts", () => {
  const path = join(directory.path, "kept.json");
  new StoredTexts(path, "abc").add("gpu", "single/en-jfk.flac", "and so");
  const again = new StoredTexts(path, "abc");
  expect(again.get("gpu", "single/en-jfk.flac")).toBe("and so");
  expect(again.get("cpu", "single/en-jfk.flac")).toBeUndefined();
});

test("transcripts of another commit or GPU are not continued, and no other file is overwritten", () => {
  const path = join(directory.path, "other.json");
  new StoredTexts(path, "abc").add("gpu", "single/en-jfk.flac", "and so");
  expect(() => new StoredTexts(path, "def")).toThrow("contains transcripts of abc, not of def; remove it");
  writeFileSync(path, "figures");
  expect(() => new StoredTexts(path, "abc")).toThrow("was not written by scripts/evaluate devices");
  expect(readFileSync(path, "utf8")).toBe("figures");
});
