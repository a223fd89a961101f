import { countErrors, type ErrorCount, plainWords } from "../../harness/wer.ts";
import { englishNumbers } from "./english-numbers.ts";

/** Counts word errors of English text. Case, punctuation and spelling variants are no errors. */
export function englishWordErrors(reference: string, hypothesis: string): ErrorCount {
  return countErrors(normaliseEnglish(reference), normaliseEnglish(hypothesis));
}

const fillers = new Set(["uh", "um", "hm", "hmm", "mm", "mhm", "mmm", "er", "ah", "eh"]);

const wholeWords: Record<string, string> = {
  mr: "mister",
  mrs: "missus",
  dr: "doctor",
  st: "saint",
  okay: "ok",
  alright: "all right",
  "won't": "will not",
  "can't": "can not",
  cannot: "can not",
  "shan't": "shall not",
  "let's": "let us",
  "ain't": "is not",
  gonna: "going to",
  wanna: "want to",
  gotta: "got to",
};

const endings: readonly (readonly [RegExp, string])[] = [
  [/n't$/, " not"],
  [/'re$/, " are"],
  [/'ve$/, " have"],
  [/'ll$/, " will"],
  [/'m$/, " am"],
  [/'d$/, " would"],
  // The ending of "is" and the possessive are indistinguishable, so both become the same.
  [/'s$/, " s"],
];

/** Regular differences between British and American spelling. */
const spellings: readonly (readonly [RegExp, string])[] = [
  [/^(col|hon|fav|neighb|lab|hum|vap|harb|splend|behavi|endeav|rum|savi|val|vig|flav|arm|od)our/, "$1or"],
  [/^(cent|theat|met|lit|fib|somb|spect)re(s?)$/, "$1er$2"],
  [/([a-z]{3})isation/, "$1ization"],
  [
    /^(real|organ|recogn|apolog|critic|emphas|util|civil|minim|maxim|author|character|symbol)is(e|ed|es|ing)$/,
    "$1iz$2",
  ],
  [/^grey/, "gray"],
  [/^towards$/, "toward"],
  [/^travell/, "travel"],
];

function normaliseEnglish(text: string): string[] {
  const withoutGroups = text
    .replace(/(\d),(\d{3})\b/g, "$1$2")
    .replace(/(\d)\s*%/g, "$1 percent")
    .replace(/&/g, " and ");
  const words = plainWords(withoutGroups)
    .filter((word) => !fillers.has(word))
    .flatMap((word) => expand(word).split(" "))
    .map((word) => spellings.reduce((spelled, [from, to]) => spelled.replace(from, to), word));
  return englishNumbers(words);
}

function expand(word: string): string {
  const whole = wholeWords[word];
  if (whole !== undefined) {
    return whole;
  }
  const ending = endings.find(([pattern]) => pattern.test(word));
  return (ending === undefined ? word : word.replace(ending[0], ending[1])).replace(/'/g, "");
}
