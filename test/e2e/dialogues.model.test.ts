import { describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { available, corpusPath, samplePath } from "../support/checkout.ts";
import { type NamedTurn, parseRttm } from "../support/rttm.ts";
import { labelledTurns, speakerLabels, wordErrorRate } from "./accuracy.ts";
import { startServerForSuite } from "./suite-server.ts";

interface Reference {
  readonly text: string;
  readonly turns: readonly NamedTurn[];
}

const turnsSchema = Type.Array(
  Type.Object({ start: Type.Number(), end: Type.Number(), speaker: Type.String(), text: Type.String() }),
);

/** A read dialogue: its turns with their texts. */
async function readTurns(path: string): Promise<Reference> {
  const turns = Value.Parse(turnsSchema, await Bun.file(path).json());
  return {
    text: turns.map((turn) => turn.text).join(" "),
    turns: turns.map(({ start, end, speaker }) => ({ startSeconds: start, endSeconds: end, speaker })),
  };
}

/** The sample: what was said is in its STM (words from the sixth field on), who spoke when in its RTTM. */
async function readSample(): Promise<Reference> {
  const stm = await Bun.file(samplePath("sample.stm")).text();
  const texts = stm.split("\n").map((line) => line.split(/\s+/).slice(5).join(" "));
  return { text: texts.join(" "), turns: parseRttm(await Bun.file(samplePath("sample.rttm")).text()) };
}

const dialogues = ["dlg-01-2spk-FM", "dlg-02-2spk-MM", "dlg-03-2spk-FF"].map((name) => ({
  name,
  path: corpusPath(`dialogue/${name}.flac`),
  turnsPath: corpusPath(`dialogue/${name}.turns.json`),
}));
const sample = samplePath("sample.wav");
const ready = available("e2e tests of two speakers", sample);
const readyDialogues = available("e2e tests of dialogues", ...dialogues.map(({ path }) => path));

describe.if(ready)("who said what", () => {
  const made = startServerForSuite("dialogues");
  const { server } = made;

  const tellsTheTwoApart = async (path: string, reference: Reference, mostErrors: number) => {
    const { ended, segments } = await made.client.transcribe(path);
    expect(ended).toMatchObject({ status: "completed", language: "en" });
    const turns = labelledTurns(reference.turns, segments);
    // Labels go by first appearance, and every turn of a speaker has that speaker's.
    expect([...new Set(segments.map((segment) => segment.speaker))]).toEqual(["A", "B"]);
    const names = [...new Set(turns.map((turn) => turn.speaker))];
    expect(speakerLabels(turns)).toEqual(names.map((name, index) => `${name} is ${"AB"[index]}`).sort());
    expect(wordErrorRate(reference.text, segments)).toBeLessThanOrEqual(mostErrors);
    const starts = segments.map((segment) => segment.start);
    expect(starts).toEqual(starts.toSorted((a, b) => a - b));
    expect(segments.filter(({ start, end }) => start >= end)).toEqual([]);
    expect(segments.map((segment) => segment.index)).toEqual(segments.map((_, index) => index));
  };

  test(
    "two women on the telephone: every turn has its speaker, and at most 15 % of the words are wrong",
    server.showingLog(async () => tellsTheTwoApart(sample, await readSample(), 0.15)),
    180_000,
  );

  for (const { name, path, turnsPath } of dialogues) {
    test.if(readyDialogues)(
      `${name}: every turn has its speaker, and at most 15 % of the words are wrong`,
      server.showingLog(async () => tellsTheTwoApart(path, await readTurns(turnsPath), 0.15)),
      180_000,
    );
  }
});
