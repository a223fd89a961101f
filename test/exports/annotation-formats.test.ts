import { describe, expect, test } from "bun:test";
import type { ExportDocument, ExportSegment } from "../../src/exports/index.ts";
import { exportedText, hostileTexts, segment, transcript } from "../support/transcripts.ts";

/** Returns the intervals of each tier of a TextGrid as `[xmin, xmax, text]`, and checks the counts. */
async function tiersOf(document: ExportDocument): Promise<Map<string, [number, number, string][]>> {
  const textGrid = await exportedText("textgrid", document);
  const [head = "", ...items] = textGrid.split(/^ {4}item \[\d+\]:\n/m);
  expect(Number(/^size = (\d+) $/m.exec(head)?.[1])).toBe(items.length);
  const tiers = new Map<string, [number, number, string][]>();
  for (const item of items) {
    const name = (/^ {8}name = "(.*)" $/m.exec(item)?.[1] ?? "none").replaceAll('""', '"');
    const intervals = [...item.matchAll(/xmin = (\S+) \n {12}xmax = (\S+) \n {12}text = "(.*)" \n/g)].map(
      ([, from, to, text = ""]): [number, number, string] => [Number(from), Number(to), text.replaceAll('""', '"')],
    );
    expect(Number(/intervals: size = (\d+) $/m.exec(item)?.[1])).toBe(intervals.length);
    expect(tiers.has(name)).toBe(false);
    tiers.set(name, intervals);
  }
  return tiers;
}

/** Expects that the intervals of each tier join, from 0 to the end. */
function expectCovered(tiers: Awaited<ReturnType<typeof tiersOf>>, end: number): void {
  for (const intervals of tiers.values()) {
    let reached = 0;
    for (const [from, to] of intervals) {
      expect(from).toBe(reached);
      expect(to).toBeGreaterThan(from);
      reached = to;
    }
    expect(reached).toBe(end);
  }
}

describe("textgrid", () => {
  test("has the long text form, and one interval tier for each speaker", async () => {
    const segments = [segment("Good morning.", 0.5, 2), segment('"Hello."', 1.25, 3, 1)];
    expect(
      await exportedText("textgrid", transcript([], { durationSeconds: 3, segments })),
    ).toBe(`File type = "ooTextFile"
Object class = "TextGrid"

xmin = 0${" "}
xmax = 3${" "}
tiers? <exists>${" "}
size = 2${" "}
item []:${" "}
    item [1]:
        class = "IntervalTier"${" "}
        name = "A"${" "}
        xmin = 0${" "}
        xmax = 3${" "}
        intervals: size = 3${" "}
        intervals [1]:
            xmin = 0${" "}
            xmax = 0.5${" "}
            text = ""${" "}
        intervals [2]:
            xmin = 0.5${" "}
            xmax = 2${" "}
            text = "Good morning."${" "}
        intervals [3]:
            xmin = 2${" "}
            xmax = 3${" "}
            text = ""${" "}
    item [2]:
        class = "IntervalTier"${" "}
        name = "B"${" "}
        xmin = 0${" "}
        xmax = 3${" "}
        intervals: size = 2${" "}
        intervals [1]:
            xmin = 0${" "}
            xmax = 1.25${" "}
            text = ""${" "}
        intervals [2]:
            xmin = 1.25${" "}
            xmax = 3${" "}
            text = """Hello."""${" "}
`);
  });

  test("has a further tier for segments of a speaker that overlap", async () => {
    const segments = [segment("One.", 0, 4), segment("Two.", 2, 3), segment("Three.", 3, 5), segment("Four.", 9, 12)];
    const tiers = await tiersOf(transcript([], { durationSeconds: 10, segments, speakers: ["A"] }));
    expect([...tiers]).toEqual([
      [
        "A",
        [
          [0, 4, "One."],
          [4, 9, ""],
          [9, 12, "Four."],
        ],
      ],
      [
        "A_2",
        [
          [0, 2, ""],
          [2, 3, "Two."],
          [3, 5, "Three."],
          [5, 12, ""],
        ],
      ],
    ]);
  });

  test("covers the recording on every tier, with hostile texts and equal names of speakers", async () => {
    const texts = Object.values(hostileTexts);
    const document = transcript(texts, { durationSeconds: 1000, speakers: ['x"', 'x"', 'x"_2'] });
    const tiers = await tiersOf(document);
    expect([...tiers.keys()]).toEqual(['x"', 'x"_2', 'x"_2_2']);
    expectCovered(tiers, 1000);
  });

  test("has one empty tier for a transcript without segments", async () => {
    const tiers = await tiersOf(transcript([], { durationSeconds: 2.5, speakers: [] }));
    expect([...tiers]).toEqual([["Speaker 1", [[0, 2.5, ""]]]]);
  });

  test("has a tier for each of 50 speakers", async () => {
    const speakers = Array.from({ length: 50 }, (_, speaker) => `S${speaker}`);
    const segments = Array.from({ length: 500 }, (_, index) => segment(`Text ${index}.`, index, index + 2, index % 50));
    const tiers = await tiersOf(transcript([], { durationSeconds: 501, speakers, segments }));
    expect([...tiers.keys()]).toEqual(speakers);
    expectCovered(tiers, 501);
  });
});

describe("eaf", () => {
  test("has time slots in order, and a tier with annotations for each speaker", async () => {
    const segments = [segment("Good morning.", 0.5, 2), segment('R&D <b>"x"', 1.25, 2, 1)];
    const document = transcript([], { durationSeconds: 3, segments, speakers: ["A", '"B" & <C>'] });
    const text = await exportedText("eaf", document);
    expect(text.split("\n").slice(2)).toEqual([
      ' <HEADER MEDIA_FILE="" TIME_UNITS="milliseconds">',
      '  <PROPERTY NAME="lastUsedAnnotationId">2</PROPERTY>',
      " </HEADER>",
      " <TIME_ORDER>",
      '  <TIME_SLOT TIME_SLOT_ID="ts1" TIME_VALUE="500"/>',
      '  <TIME_SLOT TIME_SLOT_ID="ts2" TIME_VALUE="1250"/>',
      '  <TIME_SLOT TIME_SLOT_ID="ts3" TIME_VALUE="2000"/>',
      '  <TIME_SLOT TIME_SLOT_ID="ts4" TIME_VALUE="2000"/>',
      " </TIME_ORDER>",
      ' <TIER LINGUISTIC_TYPE_REF="default-lt" TIER_ID="A" PARTICIPANT="A" LANG_REF="en">',
      '  <ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="a1" TIME_SLOT_REF1="ts1" TIME_SLOT_REF2="ts3">' +
        "<ANNOTATION_VALUE>Good morning.</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION>",
      " </TIER>",
      ' <TIER LINGUISTIC_TYPE_REF="default-lt" TIER_ID="&quot;B&quot; &amp; &lt;C&gt;" ' +
        'PARTICIPANT="&quot;B&quot; &amp; &lt;C&gt;" LANG_REF="en">',
      '  <ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="a2" TIME_SLOT_REF1="ts2" TIME_SLOT_REF2="ts4">' +
        '<ANNOTATION_VALUE>R&amp;D &lt;b&gt;"x"</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION>',
      " </TIER>",
      ' <LINGUISTIC_TYPE GRAPHIC_REFERENCES="false" LINGUISTIC_TYPE_ID="default-lt" TIME_ALIGNABLE="true"/>',
      ' <LANGUAGE LANG_ID="en" LANG_LABEL="English"/>',
      "</ANNOTATION_DOCUMENT>",
      "",
    ]);
  });

  test("names no language if it is unknown", async () => {
    const text = await exportedText("eaf", transcript(["Hello."], { language: null }));
    expect(text).not.toContain("LANG");
  });
});

test("textgrid: a speaker with any number, as in a restored backup, has one tier", async () => {
  const segments = [segment("One.", 0, 1), { ...segment("Two.", 1, 2), speaker: 2 ** 50 }];
  const tiers = await tiersOf(transcript([], { durationSeconds: 2, segments, speakers: ["A"] }));
  expect([...tiers.keys()]).toEqual(["A", `Speaker ${2 ** 50 + 1}`]);
  expectCovered(tiers, 2);
});

test("textgrid and eaf: a segment outside the recording has a place, a duration and its text", async () => {
  const late: ExportSegment = { ...segment("Late.", 5, 6), startMilliseconds: 5000, endMilliseconds: 5000 };
  const document = transcript([], { durationSeconds: 2, segments: [late], speakers: ["A"] });
  const tiers = await tiersOf(document);
  expect(tiers.get("A")?.at(-1)).toEqual([5, 5.001, "Late."]);
  expectCovered(tiers, 5.001);
  expect(await exportedText("eaf", document)).toContain('TIME_VALUE="5001"');
});
