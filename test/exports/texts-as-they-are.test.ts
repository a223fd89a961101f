import { expect, test } from "bun:test";
import { strFromU8, unzipSync } from "fflate";
import { randomNumbers } from "../../harness/random-numbers.ts";
import { writeDocx } from "../../src/exports/docx.ts";
import type { TextFormat } from "../../src/exports/formats.ts";
import type { ExportDocument } from "../../src/exports/index.ts";
import { textWriters } from "../../src/exports/text-formats.ts";
import { cleanText } from "../../src/text/index.ts";
import { segment, transcript } from "../support/transcripts.ts";

const england = "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}";

/** A text with a variation selector, the flag of England and a keycap. */
const selectors = `葛\u{e0100}城市と辻\u{e0100}さん ${england} keycap 1\ufe0f\u20e3`;

/** Parts of texts whose characters some format, library or rule for lines could change. */
const parts = [
  ...[
    "word",
    "Müller",
    "e\u0301te\u0301",
    "𠮷野家で",
    "葛\u{e0100}城",
    "辻\u{e0100}さん。",
    england,
    "1\ufe0f\u20e3",
    "#\u20e3",
    "a\u20dd",
  ],
  ...[
    "👨‍👩‍👧‍👦👩🏽‍🚀",
    "🇩🇪🇫🇷🇬🇧",
    "👍🏽👍🏿",
    "☃\ufe0e☃\ufe0f",
    "10\u00a0000\u202f€",
    "«\u202fOui\u202f!\u202f»",
    "山田\u3000太郎",
    "a\u2003b\u2007c\u2009d",
  ],
  ...[
    "ᠠ\u180bᠨ\u180eᠠ",
    "می\u200cخواهم",
    "क\u094d\u200dष",
    "שלום!\u200f",
    "a\u200e(b)",
    "\u061c٣",
    "น้ำใจผู้ใหญ่",
    "co\u00adop",
    "a\u200bb",
    "x\u2062y",
  ],
  ...[
    "<b>",
    "</v>",
    "&amp;",
    "&",
    ">",
    "]]>",
    "-->",
    '"q"',
    '""',
    "'",
    "=1+1",
    "+49",
    "@x",
    "{\\an8}",
    "\\N",
    "\\",
    "[x]",
    "[00:01.00]y",
    "<00:01>z",
  ],
  ...[
    "00:00:01,5",
    "NOTE",
    "100%",
    "a,b;c|d",
    "\u{1f9ff}",
    "𝔘𝔫",
    "\u{10fffd}",
    "\ufffd",
    "\ufffc",
    "\u30ac\u3099",
    "ﬁ½Å神\ufa19",
  ],
];

const random = randomNumbers(11);
const any = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
const randomText = () =>
  cleanText(Array.from({ length: 1 + Math.floor(random() * 14) }, () => any(parts) + any([" ", " ", ""])).join(""));

const texts = [selectors, ...Array.from({ length: 300 }, randomText)];
const names = Array.from(
  { length: 40 },
  (_, index) => `${index} ${randomText().slice(0, 30).toWellFormed().replaceAll("\ufffd", "")}`,
);
const speakers = [selectors, ...names].map((name) => cleanText(name));
/** Each segment has another speaker than the one before, so that each is a turn. */
const segments = texts.map((text, index) => segment(text, index * 4, index * 4 + 4, index % speakers.length));
const document: ExportDocument = transcript([], {
  segments,
  speakers,
  name: selectors,
  durationSeconds: texts.length * 4,
});

const written = async (format: TextFormat): Promise<string> =>
  (await Array.fromAsync(textWriters[format](document))).join("");
const shown = texts.map((text, index) => [speakers[index % speakers.length] ?? "", text]);
const withoutJoiners = (text: string) => text.replaceAll("\u2060", "");
const unescaped = (text: string) =>
  text.replace(/&(amp|lt|gt|quot);/g, (entity) => ({ "&amp;": "&", "&lt;": "<", "&gt;": ">" })[entity] ?? '"');
const byTier = speakers.flatMap((name) => shown.filter(([speaker]) => speaker === name));

/** Returns the texts of segments from the lines of their cues, in which line ends replace only spaces where lines may break. */
function expectLines(cues: readonly string[][], what: readonly string[]): void {
  const lines = cues.flat();
  for (const text of what) {
    let rest = text;
    while (rest !== "") {
      const line = lines.shift() ?? "";
      expect([text, line !== "" && rest.startsWith(line)]).toEqual([text, true]);
      rest = rest.slice(line.length).replace(/^(?![\u00a0\u202f\u2007\u2060])\s+/u, "");
    }
  }
  expect(lines).toEqual([]);
}

test("no text is cleaned that has a meaning", () => {
  for (const part of [selectors, ...parts]) expect(cleanText(part)).toBe(part);
});

test("plain text has every title, name and text as it is", async () => {
  const [title, details = "", ...turns] = (await written("txt")).trimEnd().split("\n\n");
  expect(title).toBe(selectors);
  expect(details).toEndWith(`Speakers:  ${speakers.join(", ")}`);
  expect(
    turns.map((turn) => [/^\[\d\d:\d\d:\d\d\] (.*)\n/.exec(turn)?.[1], turn.slice(turn.indexOf("\n") + 1)]),
  ).toEqual(shown);
});

test("subtitles have every text as it is, and WebVTT every name", async () => {
  const srt = (await written("srt"))
    .trimEnd()
    .split("\n\n")
    .map((cue) => cue.split("\n").slice(2).map(withoutJoiners));
  expectLines(srt, texts.map(withoutJoiners));
  const vtt = (await written("vtt")).trimEnd().split("\n\n").slice(1);
  const cues = vtt.map((cue) => /^.*\n<v ([^>\n]*)>([^<]*)$/.exec(cue));
  expectLines(
    cues.map((cue) => (cue?.[2] ?? "").split("\n").map(unescaped)),
    texts,
  );
  expect([...new Set(cues.map((cue) => unescaped(cue?.[1] ?? "")))]).toEqual([...new Set(speakers)]);
});

test("no line of a subtitle begins or ends within a character that people see", async () => {
  const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });
  const long = transcript(
    [england, "👩🏽‍🚀", "🇩🇪", "1\ufe0f\u20e3", "葛\u{e0100}", "e\u0301", "ᠠ\u180b", "क\u094d\u200dष"].map((each) =>
      each.repeat(90),
    ),
  );
  const lines = (await Array.fromAsync(textWriters.srt(long))).flatMap((cue) => cue.trimEnd().split("\n").slice(2));
  for (const line of lines) {
    const whole = [...graphemes.segment(line)].map((each) => each.segment);
    expect(new Set(whole).size).toBe(1);
  }
});

test("data formats have every name and text as it is", async () => {
  const { recording, segments: found } = JSON.parse(await written("json"));
  expect(recording.name).toBe(selectors);
  expect(found.map((each: { speaker: string; text: string }) => [each.speaker, each.text])).toEqual(shown);
  const rows = (await written("csv")).trimEnd().split("\r\n").slice(1);
  const fields = rows.map((row) =>
    [...row.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/g)].map(
      ([, quoted, bare]) => quoted?.replaceAll('""', '"') ?? bare,
    ),
  );
  expect(fields.map((row) => row.slice(2))).toEqual(shown);
  const lines = (await written("tsv")).trimEnd().split("\n").slice(1);
  expect(lines.map((line) => line.split("\t")[2])).toEqual(texts);
  const lyrics = (await written("lrc")).trimEnd().split("\n").slice(3);
  expect(lyrics.map((line) => withoutJoiners(line.slice(line.indexOf("]") + 1)))).toEqual(texts.map(withoutJoiners));
});

test("annotations have every name and text as it is", async () => {
  const grid = await written("textgrid");
  const strings = (key: string) =>
    [...grid.matchAll(new RegExp(`^ *${key} = "((?:[^"\n]|"")*)" $`, "gm"))].map(([, text = ""]) =>
      text.replaceAll('""', '"'),
    );
  expect(strings("text").filter((text) => text !== "")).toEqual(byTier.map(([, text]) => text ?? ""));
  expect(strings("name")).toEqual(speakers);
  const eaf = await written("eaf");
  const values = [...eaf.matchAll(/<ANNOTATION_VALUE>([^<]*)</g)].map(([, text = ""]) => unescaped(text));
  expect(values).toEqual(byTier.map(([, text]) => text ?? ""));
  expect([...eaf.matchAll(/TIER_ID="([^"]*)"/g)].map(([, name = ""]) => unescaped(name))).toEqual(speakers);
});

test("a word processor's document has every title, name and text as it is", async () => {
  const files = unzipSync(await writeDocx(document));
  const xml = strFromU8(files["word/document.xml"] ?? new Uint8Array());
  const paragraphs = [...xml.matchAll(/<w:p>(.*?)<\/w:p>/gs)].map(([, paragraph = ""]) =>
    [...paragraph.matchAll(/<w:t[^>]*>([^<]*)<\/w:t>/g)].map(([, text = ""]) => unescaped(text)).join(""),
  );
  expect(paragraphs[0]).toBe(selectors);
  const turns = paragraphs.slice(-2 * texts.length);
  expect(turns.filter((_, index) => index % 2 === 1)).toEqual(texts);
  expect(turns.filter((_, index) => index % 2 === 0).map((heading) => heading.replace(/ {3}[\d:]+$/, ""))).toEqual(
    shown.map(([name = ""]) => name),
  );
  expect(strFromU8(files["docProps/core.xml"] ?? new Uint8Array())).toContain(selectors);
});
