import { expect } from "bun:test";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { corpusPath, samplePath } from "../../harness/checkout.ts";
import type { TestClient } from "../../harness/client.ts";
import { type NamedTurn, parseRttm } from "../../harness/rttm.ts";
import { labelledTurns, speakerLabels, wordErrorRate } from "./accuracy.ts";

/** The words and turns of a recording, as people transcribed it. */
export interface Reference {
  readonly text: string;
  readonly turns: readonly NamedTurn[];
}

/** Start and end in seconds. */
export type Excerpt = readonly [start: number, end: number];

/** Dialogues of the corpus, each with an excerpt of three turns. */
export const dialogues = (
  [
    ["dlg-01-2spk-FM", [0, 16.8]],
    ["dlg-02-2spk-MM", [13.1, 36.6]],
    ["dlg-03-2spk-FF", [0, 27]],
  ] satisfies [string, Excerpt][]
).map(([name, excerpt]): { name: string; path: string; excerpt: Excerpt } => ({
  name,
  excerpt,
  path: corpusPath(`dialogue/${name}.flac`),
}));

const turnsSchema = Type.Array(
  Type.Object({ start: Type.Number(), end: Type.Number(), speaker: Type.String(), text: Type.String() }),
);

/** Reads the reference of a dialogue or of an excerpt from it. */
export async function readTurns(name: string, [from, to]: Excerpt = [0, Number.POSITIVE_INFINITY]): Promise<Reference> {
  const turns = Value.Parse(turnsSchema, await Bun.file(corpusPath(`dialogue/${name}.turns.json`)).json());
  const within = turns.filter(({ start, end }) => start >= from && end <= to);
  return {
    text: within.map((turn) => turn.text).join(" "),
    turns: within.map(({ start, end, speaker }) => ({ startSeconds: start - from, endSeconds: end - from, speaker })),
  };
}

/**
 * Reads the reference of the sample: the words are in its STM file from the sixth field on, the turns in its RTTM file.
 */
export async function readSample(): Promise<Reference> {
  const stm = await Bun.file(samplePath("sample.stm")).text();
  const texts = stm.split("\n").map((line) => line.split(/\s+/).slice(5).join(" "));
  return { text: texts.join(" "), turns: parseRttm(await Bun.file(samplePath("sample.rttm")).text()) };
}

/** Transcribes a recording of two speakers, and expects the right speaker for every turn and at most 15 % wrong words. */
export async function expectBothSpeakers(client: TestClient, path: string, reference: Reference): Promise<void> {
  const { ended, segments } = await client.transcribe(path);
  expect(ended).toMatchObject({ status: "completed", language: "en" });
  const turns = labelledTurns(reference.turns, segments);
  // Labels follow first appearance, and every turn has the label of its speaker.
  expect([...new Set(segments.map((segment) => segment.speaker))]).toEqual(["A", "B"]);
  const names = [...new Set(turns.map((turn) => turn.speaker))];
  expect(speakerLabels(turns)).toEqual(names.map((name, index) => `${name} is ${"AB"[index]}`).sort());
  expect(wordErrorRate(reference.text, segments)).toBeLessThanOrEqual(0.15);
  const starts = segments.map((segment) => segment.start);
  expect(starts).toEqual(starts.toSorted((a, b) => a - b));
  expect(segments.filter(({ start, end }) => start >= end)).toEqual([]);
  expect(segments.map((segment) => segment.index)).toEqual(segments.map((_, index) => index));
}
