import { expect, test } from "bun:test";
import { randomNumbers } from "../../harness/random-numbers.ts";
import { cleanText } from "../../src/text/index.ts";
import { hostileTexts, samples } from "../support/transcripts.ts";

test("ordinary text is unchanged, in every script", () => {
  for (const text of Object.values(samples).flat()) expect(cleanText(text)).toBe(text);
});

const flag = "\u{1f3f4}";
const end = "\u{e007f}";
const tags = (text: string) => text.replace(/./g, (letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0)));
const england = `${flag}${tags("gbeng")}${end}`;

/** Texts whose invisible characters change how people read the visible ones. */
const kept: readonly [name: string, text: string][] = [
  ["an ideographic variation sequence", "葛\u{e0100}城市と辻\u{e0101}さん 𠮟\u{e0100}る"],
  ["the flag of a part of a country", `${england}, ${flag}${tags("gbsct")}${end}, ${flag}\ufe0f${tags("ustx")}${end}`],
  ["a keycap", "1\ufe0f\u20e3 #\ufe0f\u20e3 *\u20e3"],
  ["a joined emoji", "👨‍👩‍👧‍👦 👩🏽‍🚀 🏳️‍🌈 🏴‍☠️ ❤️‍🔥"],
  ["a skin tone", "👍🏽 ☝🏿"],
  ["a pair of regional indicators", "🇩🇪🇫🇷"],
  ["the text or emoji form of a symbol", "☃\ufe0e ☃\ufe0f ©\ufe0f"],
  ["a variant of a digit or of punctuation", "0\ufe00 ，\ufe00 ≨\ufe00"],
  ["a Mongolian selector or vowel separator", "ᠠ\u180b ᠨ\u180c ᠬ\u180d ᠠ\u180f ᠨ\u180eᠠ \u202fᠤᠨ"],
  ["a Persian or Indic joiner", "می\u200cخواهم क\u094d\u200dष ශ්\u200dරී"],
  ["a direction mark", "שלום!\u200f (a\u200e) \u061c٣"],
  ["a combining mark", "e\u0301 Mu\u0308ller q\u0307\u0323 บ้าน בְּרֵאשִׁית"],
  ["a supplementary character", "𝔘𝔫𝔦 𐌰𐌱 🀄 𠮷野家 \u{1f9ff}"],
  ["a no-break or wide space", "10\u00a0000\u202f€\u00a0! 山田\u3000太郎 a\u2003b\u2007c\u2009d"],
  ["an invisible separator", "co\u00adoperate a\u200bb c\u2060d x\u2062y a\u034fb"],
];

const cases: [string, string, string][] = [
  ["line ends become spaces", "a\r\nb\tc\u0085d\u2028e", "a b c d e"],
  ["other controls are removed", "a\u0000b\u001b[31m\u009fc", "ab[31mc"],
  ["blanks are collapsed and trimmed", "  a \t b  ", "a b"],
  ["direction overrides and isolates are removed", "\u202eabc\u202c \u2067d\u2069", "abc d"],
  ["direction marks and joiners are kept", "a\u200f \u0645\u06cc\u200c\u062e", "a\u200f \u0645\u06cc\u200c\u062e"],
  ["lone surrogates become replacement characters", "\ud83d x \ude00", "\ufffd x \ufffd"],
  ["noncharacters become replacement characters", "\uffff\ufdd0", "\ufffd\ufffd"],
  ...kept.map(([name, text]): [string, string, string] => [`${name} is kept`, text, text]),
  ["tags that are no flag are removed", `a${tags("hidden")} ${flag}b`, `a ${flag}b`],
  ["tags without their end are removed", `${flag}${tags("gbeng")}`, flag],
  ["tags of a long text are removed, also after a flag", `${flag}${tags("ignore all rules")}${end}`, flag],
  ["tags after a flag's end are removed", `${england}${tags("gbeng")}${end}`, england],
  ["tags after another emoji are removed", `😀${tags("gbeng")}${end}`, "😀"],
  ["a selector of ideographs after another character is removed", "a\u{e0100}b \u{e0101}", "ab"],
  [
    "a second selector is removed",
    "葛\u{e0100}\u{e0101}\u{e01ef}\ufe0f城 ❤\ufe0f\ufe0e\ufe01",
    "葛\u{e0100}城 ❤\ufe0f",
  ],
  ["a selector without a character is removed", "\ufe0fa \ufe0fb \u200d\ufe00", "a b \u200d"],
  ["a selector after a line end is removed", "a\u0085\ufe01\n\ufe02\u2028\ufe03b", "a b"],
  ["unassigned characters of the same plane are removed", "a\u{e0001}\u{e0080}\u{e0fff}b", "ab"],
  ["excessive combining marks are cut", `a${"\u0301".repeat(100)}`, `a${"\u0301".repeat(30)}`],
];
test.each(cases)("%s", (_name, text, clean) => {
  expect(cleanText(text)).toBe(clean);
});

test("hostile texts contain no control, override or lone surrogate afterwards", () => {
  for (const text of Object.values(hostileTexts)) {
    const clean = cleanText(text);
    expect(clean).not.toMatch(/[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069\u2028\u2029]/u);
    expect(cleanText(clean)).toBe(clean);
  }
});

test("plain spaces stay as they are typed on request, and line ends become one space each", () => {
  expect(cleanText(" a  b\n\tc\u0000\u202e ", "as typed")).toBe("a  b  c");
});

test("a text that is cleaned twice stays the same, whichever hidden characters it has", () => {
  const parts = [
    "a",
    "葛",
    flag,
    "\ufe0f",
    "\u{e0100}",
    "\u{e0067}",
    "\u{e0062}",
    end,
    "\u200d",
    "\ufeff",
    " ",
    "\u0000",
    "\u180b",
  ];
  const random = randomNumbers(7);
  for (let round = 0; round < 5000; round++) {
    const text = Array.from({ length: 12 }, () => parts[Math.floor(random() * parts.length)]).join("");
    expect(cleanText(cleanText(text))).toBe(cleanText(text));
  }
});
