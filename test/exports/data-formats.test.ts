import { describe, expect, test } from "bun:test";
import type { ExportSegment } from "../../src/exports/index.ts";
import { exportedText, hostileTexts, segment, transcript } from "../support/transcripts.ts";

const two = transcript(["Good morning, everybody.", 'She said "no".']);
const hostile = transcript(Object.values(hostileTexts), { speakers: Object.values(hostileTexts) });

describe("json", () => {
  test("has the recording, the language, and segments with speakers and words", async () => {
    const words: ExportSegment["words"] = [
      [" Good", 120, 400, 0.98],
      [" night.", 400, 905, 0.5, false],
    ];
    const segments = [{ startMilliseconds: 120, endMilliseconds: 905, speaker: 1, text: "Good night.", words }];
    const document = transcript([], { durationSeconds: 1.00049, segments });
    expect(JSON.parse(await exportedText("json", document))).toEqual({
      recording: {
        id: document.id,
        title: null,
        name: "meeting",
        created_at: "2026-11-21T08:05:00.000+00:00",
        duration: 1,
      },
      language: "en",
      segments: [
        {
          index: 0,
          start: 0.12,
          end: 0.905,
          speaker: "B",
          text: "Good night.",
          words: [
            { text: "Good", start: 0.12, end: 0.4, probability: 0.98 },
            { text: "night.", start: 0.4, end: 0.905, probability: 0.5, calibrated: false },
          ],
        },
      ],
    });
  });

  test("has an empty list for a segment without words, and for a transcript without segments", async () => {
    const segments = [{ ...segment("Old.", 0, 1), words: [] }];
    expect(JSON.parse(await exportedText("json", transcript([], { segments }))).segments[0].words).toEqual([]);
    const empty = JSON.parse(await exportedText("json", transcript([], { language: null, name: null })));
    expect(empty).toMatchObject({ recording: { name: null }, language: null, segments: [] });
  });

  test("has hostile texts as the API has them", async () => {
    const { segments } = JSON.parse(await exportedText("json", hostile)) as { segments: { text: string }[] };
    expect(segments.map(({ text }) => text)).toEqual(Object.values(hostileTexts).map((text) => text.toWellFormed()));
  });
});

describe("csv", () => {
  test("has a header, times in seconds, CRLF after every line, and doubled quotes in quoted fields", async () => {
    expect(await exportedText("csv", two)).toBe(
      "start,end,speaker,text\r\n" +
        '0.000,4.000,A,"Good morning, everybody."\r\n' +
        '4.000,8.000,B,"She said ""no""."\r\n',
    );
  });

  test("leaves a text unchanged that a spreadsheet takes for a formula", async () => {
    const text = await exportedText("csv", transcript(["=1+1", "@SUM(A1)", "- Yes."]));
    expect(text.split("\r\n").slice(1, 4)).toEqual([
      "0.000,4.000,A,=1+1",
      "4.000,8.000,B,@SUM(A1)",
      "8.000,12.000,A,- Yes.",
    ]);
  });
});

test("tsv: has Whisper's columns with times in milliseconds", async () => {
  expect(await exportedText("tsv", transcript(["Good\tmorning.", 'So "it" is.']))).toBe(
    'start\tend\ttext\n0\t4000\tGood morning.\n4000\t8000\tSo "it" is.\n',
  );
});

describe("rttm", () => {
  test("has one line for each segment", async () => {
    expect(await exportedText("rttm", { ...two, name: "weekly  meeting" })).toBe(
      "SPEAKER weekly_meeting 1 0.000 4.000 <NA> <NA> A <NA> <NA>\n" +
        "SPEAKER weekly_meeting 1 4.000 4.000 <NA> <NA> B <NA> <NA>\n",
    );
  });

  test.each([
    [
      "has distinct names without blanks for speakers of any name",
      { name: null, speakers: ["Ann Lee", "Ann\u00a0Lee", "<NA>", 'O"Neil', "", "Ann_Lee"] },
      "Transcript",
      ["Ann_Lee", "Ann_Lee_2", "_NA_", "O_Neil", "Speaker_5", "Ann_Lee_3"],
    ],
    [
      "has no name that readers take for a missing value",
      { name: "NULL", speakers: ["NA", "null", "None", "nan", "N/A", "#N/A", "Nancy", "NA_"] },
      "NULL_",
      ["NA_", "null_", "None_", "nan_", "N/A_", "#N/A_", "Nancy", "NA__2"],
    ],
  ])("%s", async (_, head, file, names) => {
    const segments = head.speakers.map((_name, speaker) => segment("Hello.", speaker, speaker + 1, speaker));
    const lines = (await exportedText("rttm", transcript([], { ...head, segments }))).trim().split("\n");
    expect(lines.map((line) => line.split(" ")[7])).toEqual(names);
    expect(lines.every((line) => line.startsWith(`SPEAKER ${file} 1 `))).toBe(true);
  });

  test("counts no time of a speaker twice", async () => {
    const segments = [segment("One.", 0, 4), segment("Two.", 1, 2, 1), segment("Three.", 2, 3), segment("Four.", 3, 5)];
    const lines = (await exportedText("rttm", transcript([], { segments }))).trim().split("\n");
    expect(lines.map((line) => line.split(" ").slice(3, 5).join(" "))).toEqual([
      "0.000 4.000",
      "1.000 1.000",
      "4.000 1.000",
    ]);
  });
});

describe("lrc", () => {
  test("has title, length and a line for each segment", async () => {
    const document = transcript([], {
      name: "call [1]",
      durationSeconds: 65.999,
      segments: [segment("Hi.", 59.994, 62)],
    });
    expect(await exportedText("lrc", document)).toBe("[ti:call (1)]\n[length:01:06]\n\n[00:59.99]Hi.\n");
  });

  test("counts minutes beyond 99", async () => {
    const segments = [segment("Late.", 17 * 3600 + 59 * 60 + 59.996, 64_800)];
    expect(await exportedText("lrc", transcript([], { durationSeconds: 64_800, segments }))).toEndWith(
      "[length:1080:00]\n\n[1080:00.00]Late.\n",
    );
  });

  test("has no other time in a text", async () => {
    const text = await exportedText("lrc", transcript(["Now [01:02.03] Hello <00:01.00>you. [Music]"]));
    expect(text).toEndWith("[00:00.00]Now [\u206001:02.03] Hello <\u206000:01.00>you. [Music]\n");
  });

  test("has no tag where a text starts with a bracket", async () => {
    const text = await exportedText("lrc", transcript(["[Music]", "[01:02.03]"]));
    expect(text).toEndWith("[00:00.00]\u2060[Music]\n[00:04.00]\u2060[\u206001:02.03]\n");
  });
});

test.each(["csv", "tsv", "rttm", "lrc"] as const)("%s: hostile texts and names stay on their lines", async (format) => {
  const text = await exportedText(format, hostile);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: no control character may be in the file
  expect(text.replaceAll("\r\n", "\n")).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]/);
  const plain = await exportedText(format, transcript(Object.values(hostileTexts).map(() => "x")));
  // A text in which nothing is visible, as of joiners alone, has no line. RTTM has no texts.
  const invisible = format === "rttm" ? 0 : 1;
  expect(plain.split("\n").length - text.split("\n").length).toBe(invisible);
});

test.each([
  ["csv", "start,end,speaker,text\r\n"],
  ["tsv", "start\tend\ttext\n"],
  ["rttm", ""],
  ["lrc", "[ti:meeting]\n[length:00:00]\n\n"],
] as const)("%s: a recording without segments gives a valid file", async (format, expected) => {
  expect(await exportedText(format, transcript([]))).toBe(expected);
});
