import { describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { available, corpusPath, samplePath } from "../../harness/checkout.ts";
import { type NamedTurn, parseRttm } from "../../harness/rttm.ts";
import { labelledTurns, speakerLabels, wordErrorRate } from "./accuracy.ts";
import { startServerForSuite } from "./suite-server.ts";

interface Reference {
  readonly text: string;
  readonly turns: readonly NamedTurn[];
}

const turnsSchema = Type.Array(
  Type.Object({ start: Type.Number(), end: Type.Number(), speaker: Type.String(), text: Type.String() }),
);

/** Reads the reference of a dialogue: its turns and their text. */
async function readTurns(path: string): Promise<Reference> {
  const turns = Value.Parse(turnsSchema, await Bun.file(path).json());
  return {
    text: turns.map((turn) => turn.text).join(" "),
    turns: turns.map(({ start, end, speaker }) => ({ startSeconds: start, endSeconds: end, speaker })),
  };
}

/**
 * Reads the reference of the sample: the words are in its STM file from the sixth field on, the turns in its RTTM file.
 */
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

describe.if(ready)("a transcript of two speakers", () => {
  const suite = startServerForSuite("dialogues");
  const { server } = suite;

  const labelsBothSpeakers = async (path: string, reference: Reference, maxErrorRate: number) => {
    const { ended, segments } = await suite.client.transcribe(path);
    expect(ended).toMatchObject({ status: "completed", language: "en" });
    const turns = labelledTurns(reference.turns, segments);
    // Labels follow first appearance, and every turn has the label of its speaker.
    expect([...new Set(segments.map((segment) => segment.speaker))]).toEqual(["A", "B"]);
    const names = [...new Set(turns.map((turn) => turn.speaker))];
    expect(speakerLabels(turns)).toEqual(names.map((name, index) => `${name} is ${"AB"[index]}`).sort());
    expect(wordErrorRate(reference.text, segments)).toBeLessThanOrEqual(maxErrorRate);
    const starts = segments.map((segment) => segment.start);
    expect(starts).toEqual(starts.toSorted((a, b) => a - b));
    expect(segments.filter(({ start, end }) => start >= end)).toEqual([]);
    expect(segments.map((segment) => segment.index)).toEqual(segments.map((_, index) => index));
  };

  test(
    "of a telephone call of two women has the right speaker for every turn and at most 15 % wrong words",
    server.showingLog(async () => labelsBothSpeakers(sample, await readSample(), 0.15)),
    180_000,
  );

  for (const { name, path, turnsPath } of dialogues) {
    test.if(readyDialogues)(
      `of ${name} has the right speaker for every turn and at most 15 % wrong words`,
      server.showingLog(async () => labelsBothSpeakers(path, await readTurns(turnsPath), 0.15)),
      180_000,
    );
  }
});
