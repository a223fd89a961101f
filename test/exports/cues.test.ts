import { expect, test } from "bun:test";
import { bindsToNext } from "../../src/exports/cue-fragments.ts";
import { type Cue, toCues } from "../../src/exports/cues.ts";
import type { ExportSegment } from "../../src/exports/index.ts";
import { hostileTexts, samples, segment, transcript } from "../support/transcripts.ts";

const long =
  "Well, I think that the whole question is rather more complicated than that, and we should look at it again " +
  "when everybody is here. Then we can decide, and not before, what has to be done about the roof of the old house.";

async function cuesOf(...segments: ExportSegment[]): Promise<Cue[]> {
  return await Array.fromAsync(toCues(transcript([], { segments })));
}

const textOf = (cues: readonly Cue[]) => cues.flatMap((cue) => cue.lines).join(" ");
const withoutSpaces = (text: string) => text.replace(/\s+/g, "");

function expectWithinLimits(cues: readonly Cue[]): void {
  let reached = 0;
  for (const cue of cues) {
    expect(cue.lines.length).toBeWithin(1, 3);
    for (const line of cue.lines) expect(Bun.stringWidth(line)).toBeWithin(1, 43);
    expect(cue.endMilliseconds).toBeGreaterThan(cue.startMilliseconds);
    expect(cue.endMilliseconds - cue.startMilliseconds).toBeLessThanOrEqual(7000);
    expect(cue.startMilliseconds).toBeGreaterThanOrEqual(reached);
    reached = cue.startMilliseconds;
  }
}

test("a long sentence becomes cues of two lines, without losing a word", async () => {
  const cues = await cuesOf(segment(long, 10, 24));
  expectWithinLimits(cues);
  expect(cues.length).toBeGreaterThan(2);
  expect(textOf(cues)).toBe(long);
});

test("cues are split at the end of a sentence or clause", async () => {
  const cues = await cuesOf(segment(long, 10, 24));
  expect(cues.map((cue) => cue.lines.at(-1)?.at(-1))).toEqual([",", ",", "."]);
  const sentences = await cuesOf(
    segment("It was late and everybody had left. So we locked the doors of the house and went.", 0, 8),
  );
  expect(sentences.map((cue) => cue.lines.join(" "))).toEqual([
    "It was late and everybody had left.",
    "So we locked the doors of the house and went.",
  ]);
});

test("a cue starts with its first word", async () => {
  const words: ExportSegment["words"] = long
    .split(" ")
    .map((word, index) => [` ${word}`, index * 500, index * 500 + 400, 1]);
  const cues = await cuesOf({
    startMilliseconds: 0,
    endMilliseconds: words.length * 500,
    speaker: 0,
    text: long,
    words,
  });
  expectWithinLimits(cues);
  let word = 0;
  for (const cue of cues) {
    expect(cue.startMilliseconds).toBe(word * 500);
    word += cue.lines.join(" ").split(" ").length;
  }
});

test("slow speech is split by duration", async () => {
  const cues = await cuesOf(segment("One. Two. Three. Four. Five. Six.", 0, 30));
  expectWithinLimits(cues);
  expect(cues.length).toBeGreaterThan(4);
});

test("a text that fits is one cue with lines of similar length", async () => {
  const cues = await cuesOf(segment("I have not seen him since the day before yesterday, I think.", 0, 4));
  expect(cues.map((cue) => cue.lines)).toEqual([["I have not seen him since the day", "before yesterday, I think."]]);
});

const brokenLines: [string, string, string][] = [
  ["en", "We talked about the history", "of the old town and nothing else."],
  ["fr", "On nous a montré la grande salle", "de la mairie et la cour du château."],
  ["de", "Sie sollten bei diesem Wetter mit dem Zug", "und nicht mit dem Auto fahren."],
  ["es", "Hemos hablado mucho de la historia", "de la vieja ciudad y de nada más hoy."],
  ["it", "Ci hanno mostrato le grandi stanze", "della villa e anche il giardino."],
  ["pt", "Nós falamos muito hoje da história", "da velha cidade e de nada mais."],
  ["nl", "Hij heeft het verhaal gehoord", "van de oude stad en zijn kerk."],
];
test.each(brokenLines)(
  "%s: no line ends with an article, a preposition or a conjunction",
  async (language, first, second) => {
    const said = segment(`${first} ${second}`, 0, 5);
    const [cue, ...others] = await Array.fromAsync(toCues(transcript([], { segments: [said], language })));
    expect([cue?.lines, others]).toEqual([[first, second], []]);
  },
);

test("a line ends with such a word if every other break is much worse", async () => {
  const text = "Wir haben lange über die Geschichte der alten Stadt und sonst nichts gesprochen.";
  const cues = await Array.fromAsync(toCues(transcript([], { segments: [segment(text, 0, 5)], language: "de" })));
  expectWithinLimits(cues);
  expect(cues.map((cue) => cue.lines.length)).toEqual([2]);
  expect(textOf(cues)).toBe(text);
});

const whole: [string, string, string][] = [
  [
    "a title and its name",
    "Wir haben das alles schon am 3. Mai mit Herrn Dr. Schneider besprochen und geklärt.",
    "Dr. Schneider",
  ],
  [
    "an abbreviation",
    "It cost about 10.5 million, e.g. for the roof, and nobody knew who was going to pay.",
    "e.g. for",
  ],
  [
    "a number in groups",
    "La ville voisine compte aujourd'hui près de 10 000 habitants et deux grandes gares.",
    "10 000",
  ],
  [
    "a word with a hyphen",
    "The people whom we asked about it said that it was a well-known fact by then.",
    "well-known",
  ],
];
test.each(whole)("%s is not split over two lines", async (_name, text, together) => {
  const cues = await Array.fromAsync(toCues(transcript([], { segments: [segment(text, 0, 6)], language: "en" })));
  expectWithinLimits(cues);
  expect(cues.flatMap((cue) => cue.lines).filter((line) => line.includes(together))).toHaveLength(1);
});

const ends: [string, string | null, boolean][] = [
  ["the ", "en", true],
  ["“The ", "en", true],
  ["in.", "en", false],
  ["Theodore ", "en", false],
  ["de ", "fr", true],
  ["de ", "en", false],
  ["die ", "de", true],
  ["die ", "en", false],
  ["the ", null, false],
  ["the ", "constructor", false],
  ["的", "zh", false],
];
test.each(ends)("%j in %p binds to the next word: %p", (word, language, expected) => {
  expect(bindsToNext(word, language)).toBe(expected);
});

test("a short cue is lengthened to a readable time, up to the next cue", async () => {
  const cues = await cuesOf(segment("Yes.", 1, 1.2), segment("No.", 1.5, 1.7, 1), segment("Why?", 5, 5.1));
  expect(cues.map((cue) => [cue.startMilliseconds, cue.endMilliseconds])).toEqual([
    [1000, 1500],
    [1500, 2500],
    [5000, 6000],
  ]);
});

test("cues overlap where their words do", async () => {
  const cues = await cuesOf(segment("One two three.", 0, 4), segment("Me too.", 2, 3, 1), segment("Four.", 3, 5));
  expectWithinLimits(cues);
  expect(cues.map((cue) => [cue.startMilliseconds, cue.endMilliseconds])).toEqual([
    [0, 4000],
    [2000, 3000],
    [3000, 5000],
  ]);
});

test.each(Object.entries(samples))("%s: cues keep their limits and every character", async (_language, texts) => {
  const text = [...texts, ...texts, ...texts].join(" ");
  const cues = await cuesOf(segment(text, 0, 20));
  expectWithinLimits(cues);
  expect(withoutSpaces(textOf(cues))).toBe(withoutSpaces(text));
});

test.each(Object.entries(hostileTexts))("%s: cues keep their limits", async (_name, text) => {
  const whole = segment(text, 5, 9);
  expectWithinLimits(await cuesOf(whole, { ...whole, words: [] }, { ...whole, endMilliseconds: 0 }));
});

test("contradictory word times do not break the order of cues", async () => {
  const words: ExportSegment["words"] = long
    .split(" ")
    .map((word, index) => [word, 90_000 - index * 700, index * 31, 1]);
  const cues = await cuesOf({ startMilliseconds: 5000, endMilliseconds: 19_000, speaker: 0, text: long, words });
  expectWithinLimits(cues);
  expect(textOf(cues)).toBe(long);
});
