import { expect, test } from "bun:test";
import { meetIn } from "../../src/text/index.ts";

const script = /[\p{Script=Han}\p{Script=Hiragana}\u3000-\u303F]/u;

test.each([
  ["今日は。", "元気です", true],
  ["𠮷", "𠮷", true],
  ["辻\u{e0100}", "さん", true],
  ["今天很好。”", "“我们走吧", true],
  ['今天很好。"', "(我们)", true],
  ["「OK」", "はい", true],
  ["は\u200b", "\u2060い", true],
  ["Hello.", "元気です", false],
  ["元気です", "“Hello", false],
  ["今日 OK", "はい", false],
  ["", "はい", false],
  ["はい", "", false],
  ["”".repeat(200), "は", false],
])("%p and %p meet in a script without spaces: %p", (before, after, meet) => {
  expect(meetIn(script, before, after)).toBe(meet);
});
