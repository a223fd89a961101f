const names =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen";
const units = new Map(names.split(" ").map((name, value) => [name, value]));
const tens = new Map(
  "twenty thirty forty fifty sixty seventy eighty ninety".split(" ").map((name, i) => [name, 10 * (i + 2)]),
);
const scales = new Map([
  ["thousand", 1_000],
  ["million", 1_000_000],
]);

/**
 * Replaces numbers in words by digits, so that "twenty one" and "21" are equal. Years read in pairs ("nineteen eighty
 * four") and ordinals stay as they are. A single "one" stays a word, because it is seldom a number.
 */
export function englishNumbers(words: readonly string[]): string[] {
  const written: string[] = [];
  let at = 0;
  while (at < words.length) {
    const { value, length } = readNumber(words, at);
    if (length === 0 || (length === 1 && words[at] === "one")) {
      written.push(words[at] ?? "");
      at += 1;
    } else {
      written.push(String(value));
      at += length;
    }
  }
  return written;
}

/** Returns the number that begins at a word, and how many words it has: 0 when no number begins there. */
function readNumber(words: readonly string[], start: number): { value: number; length: number } {
  let total = 0;
  let at = start;
  for (;;) {
    const group = readBelowThousand(words, at);
    if (group.length === 0) {
      break;
    }
    const scale = scales.get(words[at + group.length] ?? "");
    total += group.value * (scale ?? 1);
    at += group.length + (scale === undefined ? 0 : 1);
    if (scale === undefined) {
      break;
    }
    at += words[at] === "and" && readBelowThousand(words, at + 1).length > 0 ? 1 : 0;
  }
  return { value: total, length: at - start };
}

function readBelowThousand(words: readonly string[], start: number): { value: number; length: number } {
  const first = readBelowHundred(words, start);
  if (words[start + first.length] !== "hundred" || first.length === 0) {
    return first;
  }
  const afterHundred = start + first.length + 1;
  const skip = words[afterHundred] === "and" ? 1 : 0;
  const rest = readBelowHundred(words, afterHundred + skip);
  const used = rest.length === 0 ? 0 : skip + rest.length;
  return { value: first.value * 100 + rest.value, length: first.length + 1 + used };
}

function readBelowHundred(words: readonly string[], start: number): { value: number; length: number } {
  const ten = tens.get(words[start] ?? "");
  const unit = units.get(words[start + (ten === undefined ? 0 : 1)] ?? "");
  if (ten === undefined) {
    return unit === undefined ? { value: 0, length: 0 } : { value: unit, length: 1 };
  }
  // "twenty ten" is two numbers.
  return unit === undefined || unit === 0 || unit > 9 ? { value: ten, length: 1 } : { value: ten + unit, length: 2 };
}
