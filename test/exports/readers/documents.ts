import { readFileSync } from "node:fs";
import { available, samplePath } from "../../../harness/checkout.ts";
import type { ExportDocument, ExportSegment } from "../../../src/exports/index.ts";
import { cleanText } from "../../../src/text/index.ts";
import { hostileTexts, samples, segment, transcript } from "../../support/transcripts.ts";

/** A span of one speaker: start and end in milliseconds, name, text. */
export type Span = readonly [start: number, end: number, speaker: string, text: string];

/** A transcript with the facts that its exports must have. */
export interface Expected {
  readonly document: ExportDocument;
  readonly segments: readonly ExportSegment[];
  /** Names of the speakers in exports that show them, that have a tier for each, and in RTTM. */
  readonly names: Readonly<Record<"shown" | "tiers" | "labels", readonly string[]>>;
  /** The spans on tiers, if they differ from the segments, because those of one speaker overlap or have no duration. */
  readonly tiers?: readonly Span[];
  /** The same spans in RTTM, which has no texts. */
  readonly turns?: readonly Span[];
}

/** Returns a transcript in which two speakers alternate every four seconds. */
function alternating(texts: readonly string[]): Expected {
  return expected(texts.map((text, index) => segment(text, index * 4, index * 4 + 4, index % 2)));
}

export function expected(segments: readonly ExportSegment[], head: Partial<ExportDocument> = {}): Expected {
  const durationSeconds = Math.max(0, ...segments.map(({ endMilliseconds }) => endMilliseconds)) / 1000;
  const document = transcript([], { durationSeconds, ...head, segments });
  return {
    document,
    segments,
    names: { shown: document.speakers, tiers: document.speakers, labels: document.speakers },
  };
}

const england = "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}";

/** Speakers' names that contain the separators of a format or its word for a missing value. */
const oddNames: readonly [name: string, tier: string, label: string][] = [
  ["A, B", "A, B", "A,_B"],
  ["A;B|C", "A;B|C", "A;B|C"],
  ["A: B", "A: B", "A:_B"],
  ["A\tB", "A B", "A_B"],
  ["A\nB", "A B_2", "A_B_2"],
  ["A/B\\C", "A/B\\C", "A/B\\C"],
  ['"Q"', '"Q"', "_Q_"],
  ["'", "'", "'"],
  ["<v X>", "<v X>", "_v_X_"],
  ["A --> B", "A --> B", "A_--_B"],
  ["&amp;", "&amp;", "&amp;"],
  ["]]>", "]]>", "]]_"],
  ["[00:01.00]", "[00:01.00]", "[00:01.00]"],
  ["{\\an8}", "{\\an8}", "{\\an8}"],
  [";;", ";;", ";;"],
  ["#1", "#1", "#1"],
  ["1", "1", "1"],
  ["Ann", "Ann", "Ann"],
  ["Ann", "Ann_2", "Ann_2"],
  ["", "Speaker 20", "Speaker_20"],
  ["NA", "NA", "NA_"],
  ["null", "null", "null_"],
  ["None", "None", "None_"],
  ["nan", "nan", "nan_"],
  ["שלום, עולם", "שלום, עולם", "שלום,_עולם"],
  ["a\u202eb", "ab", "ab"],
  ["👨‍👩‍👧‍👦", "👨‍👩‍👧‍👦", "👨‍👩‍👧‍👦"],
  [`辻\u{e0100}\u{e0101} ${england}`, `辻\u{e0100} ${england}`, `辻\u{e0100}_${england}`],
  ["M.\u00a0Li", "M.\u00a0Li", "M._Li"],
  ["x".repeat(100), "x".repeat(100), "x".repeat(100)],
];

function withOddNames(): Expected {
  const segments = oddNames.map((_name, index) => segment("Hello.", index, index + 1, index));
  const speakers = oddNames.map(([name]) => name);
  return {
    ...expected(segments, { speakers, name: "null" }),
    names: {
      shown: speakers.map((name) => cleanText(name) || "Speaker 20"),
      tiers: oddNames.map(([, tier]) => tier),
      labels: oddNames.map(([, , label]) => label),
    },
  };
}

/** The sample recording's conversation, as transcribed by people. */
function conversation(): Record<string, Expected> {
  const path = samplePath("sample.stm");
  if (!available("exports of the sample conversation", path)) return {};
  const lines = [...readFileSync(path, "utf8").matchAll(/^sample 1 (\S+) (\S+) (\S+) (.*)$/gm)];
  const speakers = [...new Set(lines.map(([, name = ""]) => name))];
  const segments = lines.map(([, name = "", start, end, text = ""]) =>
    segment(text, Number(start), Number(end), speakers.indexOf(name)),
  );
  return { "the sample conversation": expected(segments, { speakers, durationSeconds: 30 }) };
}

const overlaps: Expected = {
  ...expected([
    segment("One.", 0, 4),
    segment("Over it.", 1, 6, 1),
    segment("Two.", 2, 3),
    segment("Three.", 3, 5),
    segment("Three.", 3, 5),
  ]),
  tiers: [
    [0, 4000, "A", "One."],
    [1000, 6000, "B", "Over it."],
    [2000, 3000, "A_2", "Two."],
    [3000, 5000, "A_2", "Three."],
    [3000, 5000, "A_3", "Three."],
  ],
  turns: [
    [0, 4000, "A", ""],
    [1000, 6000, "B", ""],
    [4000, 5000, "A", ""],
  ],
};

const withoutDuration: Expected = {
  ...expected([segment("One.", 0, 0), segment("Two.", 2, 4), segment("Three.", 4, 4), segment("Late.", 12, 12, 1)], {
    durationSeconds: 10,
  }),
  tiers: [
    [0, 1, "A", "One."],
    [2000, 4000, "A", "Two. Three."],
    [12_000, 12_001, "B", "Late."],
  ],
  turns: [[2000, 4000, "A", ""]],
};

const long = Array.from({ length: 1000 }, (_, index) =>
  segment(`Sentence ${index} of a long day, "quoted".`, index * 43, index * 43 + 40, index % 5),
);
const withoutPause = segment(Array(3000).fill("again and").join(" "), 43_000, 45_000, 3);

/** Texts in which invisible characters and kinds of spaces have a meaning. */
const invisibleTexts = [
  `葛\u{e0100}城市と辻\u{e0100}さん ${england} keycap 1\ufe0f\u20e3`,
  ...[
    "a\u20e3 B\u20dd \u0434\u0488 2\u20e3#\ufe0f\u20e3",
    "👨‍👩‍👧‍👦👩🏽‍🚀 🇩🇪🇫🇷 👍🏿 ☃\ufe0e ☃\ufe0f",
    "10\u00a0000\u202f€ «\u202fOui\u202f!\u202f»",
  ],
  ...["山田\u3000太郎です。𠮷野家", "می\u200cخواهم", "क\u094d\u200dष", "e\u0301te\u0301 co\u00adop a\u200bb a\u2003b"],
];

/** Texts that resemble the syntax of a format. */
const syntax = [
  ...["1", "2", "NOTE this", "STYLE", "WEBVTT", "-->", "00:00:01,000 --> 00:00:02,000", "<v A>x</v> <i>y</i> < z"],
  ...["from 10:00:00,500 to 11:00:00,500", "&amp; &lt; &#x41;", "{\\an8}top \\N \\h", "{y:i}yes {s: 3} {b}x{/b}"],
  ...["[Music]", "[Music] plays", "[ti:x]", "[offset:100]", "[01:02.03]x", "<00:01.00>x", "a [b] c", "[", "]]>"],
  ...['"', '""', '"all of it"', 'a "b", c', "a;b|c", "=1+1", "SPEAKER x 1 0.0 1.0", ";; x", "# x", "null", "NA"],
  ...["xmin = 0", 'text = "x"', 'class = "IntervalTier"', "size = 4", "12 <exists> 3 ! x", "a\tb\nc\r\nd\\ne", "'"],
];

/** The transcripts that are exported and read, by name. */
export const transcripts: Readonly<Record<string, Expected>> = {
  ...conversation(),
  "texts in every script": alternating(Object.values(samples).flat()),
  "hostile texts": alternating(Object.values(hostileTexts)),
  "texts that resemble syntax": alternating(syntax),
  "selectors, flags and spaces": alternating(invisibleTexts),
  "odd names of speakers": withOddNames(),
  "overlapping segments": overlaps,
  "segments without duration": withoutDuration,
  "no segments": expected([]),
  "segments without text": expected([segment("\u200b", 0, 1), segment("", 1, 2, 1)]),
  "twelve hours": expected([...long, withoutPause], { speakers: ["A", "B", "C", "D", "E"] }),
};
