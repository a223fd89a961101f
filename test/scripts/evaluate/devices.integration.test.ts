import { afterAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { differenceOf, shareOfEqual } from "../../../scripts/support/evaluate/compare-devices.ts";
import { KeptTexts } from "../../../scripts/support/evaluate/kept-texts.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { plainWords } from "../../support/wer.ts";

const directory = temporaryDirectory();
afterAll(() => directory[Symbol.dispose]());

/** The scorer's normaliser is Whisper's own; here it is plain words. */
const normalise = (_: string, text: string) => plainWords(text);

test.each<[what: string, cpu: string, gpu: string, apart: [errors: number, length: number], share: number]>([
  ["the same", "We go home.", "we go home", [0, 3], 1],
  ["another word", "we go home now", "we go home know", [1, 4], 0.75],
  ["a word more", "we go home now", "and we go home now", [1, 4], 0.75],
  ["a word less", "we go home now", "we go home", [1, 4], 0.75],
  ["a word in two", "a shopboy came in", "a shop boy came in", [2, 4], 0.5],
  ["much more", "we", "and so we go home", [4, 1], 0],
  ["something where nothing was heard", "", "you", [1, 0], 0],
  ["nothing on both", "", "", [0, 0], 1],
])("two devices that hear %s", (_, cpu, gpu, [errors, length], share) => {
  const { apart } = differenceOf(normalise, { path: "", language: "en", said: "", cpu, gpu });
  expect(apart).toEqual({ errors, length });
  expect(shareOfEqual(apart)).toBe(share);
});

test("each device's own errors are told, in characters where a language has no spaces", () => {
  const english = { path: "", language: "en", said: "we go home", cpu: "we go home", gpu: "we go alone" };
  expect(differenceOf(normalise, english)).toMatchObject({ cpu: { errors: 0 }, gpu: { errors: 1, length: 3 } });
  const chinese = { path: "", language: "zh", said: "桥下垂直净空", cpu: "桥上垂直净空", gpu: "桥下垂直净空" };
  expect(differenceOf(normalise, chinese)).toEqual({
    apart: { errors: 1, length: 6 },
    cpu: { errors: 1, length: 6 },
    gpu: { errors: 0, length: 6 },
  });
});

test("a run that was cut off goes on from what it had kept", () => {
  const path = join(directory.path, "kept.json");
  new KeptTexts(path, "abc").add("gpu", "single/en-jfk.flac", "and so");
  const again = new KeptTexts(path, "abc");
  expect(again.get("gpu", "single/en-jfk.flac")).toBe("and so");
  expect(again.get("cpu", "single/en-jfk.flac")).toBeUndefined();
});

test("what another commit or GPU heard is not gone on with, and no other file is written over", () => {
  const path = join(directory.path, "other.json");
  new KeptTexts(path, "abc").add("gpu", "single/en-jfk.flac", "and so");
  expect(() => new KeptTexts(path, "def")).toThrow("holds what abc heard, not def; remove it");
  writeFileSync(path, "figures");
  expect(() => new KeptTexts(path, "abc")).toThrow("holds nothing that scripts/evaluate devices has kept");
  expect(readFileSync(path, "utf8")).toBe("figures");
});
