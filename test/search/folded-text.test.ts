import { describe, expect, test } from "bun:test";
import { findAll, foldText, type TextSpan } from "../../src/search/folded-text.ts";

const cut = (text: string, spans: readonly TextSpan[]) => spans.map(([from, to]) => text.slice(from, to));

describe("a folded text", () => {
  test.each([
    ["Crème BRÛLÉE", "creme brulee"],
    ["cafe\u0301", "café"],
    ["đường", "DUONG"],
    ["Straße", "STRASSE"],
    ["GROẞ", "gross"],
    ["Łódź", "lodz"],
    ["Ørsted", "orsted"],
    ["æther, cœur", "AETHER, COEUR"],
    ["Þór", "thor"],
    ["всё", "ВСЕ"],
    ["Ὀδυσσεύς", "ΟΔΥΣΣΕΥΣ"],
    ["ığdır", "IĞDIR"],
    ["ığdır", "İĞDİR"],
    ["Iğdır", "igdir"],
    ["İstanbul", "ISTANBUL"],
    ["i̇stanbul", "ıstanbul"],
    ["don't", "don’t"],
    ["don't", "donʼt"],
    ["oʻzbek", "o‘zbek"],
    ["ג׳ורג׳", "ג'ורג'"],
    ["צה״ל", 'צה"ל'],
    ["“so” «it» is", '"so" "it" is'],
    ["e‑mail – 2−1", "e-mail - 2-1"],
    ["co\u00adoperate", "cooperate"],
    ["10\u00a0km\u3000\tfar", "10 km far"],
    ["ＡＢＣ　１２", "abc 12"],
    ["ﬁnd ﬀ", "find ff"],
    ["m² № Ⅷ", "m2 no viii"],
    ["ｶﾞﾗｽ", "ガラス"],
    ["か\u3099", "が"],
    ["학교".normalize("NFD"), "학교"],
    ["كِتَابٌ", "كتاب"],
    ["كـــتاب", "كتاب"],
    ["أحمد إلى آمن ٱلله", "احمد الي امن الله"],
    ["مدرسة", "مدرسه"],
    ["کتابی", "كتابي"],
    ["می‌خواهم", "ميخواهم"],
    ["ﻣﺮﺣﺒﺎ", "مرحبا"],
    ["شَدّة", "شده"],
    ["שָׁלוֹם", "שלום"],
    ["שׁ", "ש"],
    ["١٢٣ ۴۵ ०१ ๗", "123 45 01 7"],
    ["น้ำ", "น้\u0e4d\u0e32"],
    ["\u200fשלום\u200e", "שלום"],
  ])("is the same for %p and %p", (one, other) => {
    expect(foldText(one).text).toBe(foldText(other).text);
  });

  test.each([
    ["か", "が"],
    ["は", "ぱ"],
    ["학", "하"],
    ["हि", "ह"],
    ["ไม่", "ไม"],
    ["שלום", "שלומ"],
    ["ab", "a b"],
    ["a", "α"],
  ])("differs for %p and %p", (one, other) => {
    expect(foldText(one).text).not.toBe(foldText(other).text);
  });

  test("comes from spans of the original text that follow each other", () => {
    const texts = [
      "İĞDİR ß ﬃ ﷺ",
      "กำลัง",
      "e\u0301\u0302x",
      "\u0301\u0301",
      "👍🏽 ok \u{1f3f4}\u{e0067}\u{e0062}\u{e007f}",
      "\ud800a\udc00",
      "학".normalize("NFD"),
    ];
    for (const text of [...texts, `a${"\u0301".repeat(100)}b`, "ｶﾞ ".repeat(3)]) {
      const folded = foldText(text);
      let reached = 0;
      for (let at = 0; at < folded.text.length; at++) {
        const [from, to] = folded.spanOf(at, at + 1);
        expect(from).toBeLessThan(to);
        expect(to).toBeLessThanOrEqual(text.length);
        expect(from).toBeGreaterThanOrEqual(reached === 0 ? 0 : folded.spanOf(at - 1, at)[0]);
        reached = to;
      }
    }
  });

  test("of a long text of the same characters ends where the text ends", () => {
    for (const unit of ["a", "\u0301", "ᄒ", "ᆨ", "ﾞ", "\u00a0", "ﷺ", "é", "a\u0301", "학!"]) {
      const text = `b${unit.repeat(20_000)}`;
      const folded = foldText(text);
      expect([unit, folded.spanOf(folded.text.length - 1, folded.text.length)[1]]).toEqual([unit, text.length]);
    }
  });
});

describe("the occurrences", () => {
  test.each<[string, string, string[]]>([
    ["Die Ärzte, die ärzte", "arzte", ["Ärzte", "ärzte"]],
    ["cafe\u0301 café", "café", ["cafe\u0301", "café"]],
    ["aaaa", "aa", ["aa", "aa"]],
    ["a  b a b", " a b ", ["a  b", "a b"]],
    ["ΟΔΟΣ", "οδός", ["ΟΔΟΣ"]],
    ["İstanbul", "istanbul", ["İstanbul"]],
    ["Iğdır'a IĞDIR", "ığdır", ["Iğdır", "IĞDIR"]],
    ["I don’t, you don't", "don't", ["don’t", "don't"]],
    ["I don’t, you don't", "don’t", ["don’t", "don't"]],
    ["đi đường này", "duong", ["đường"]],
    ["di duong nay", "đường", ["duong"]],
    ["학교에서 대학교", "학교", ["학교", "학교"]],
    ["Eine Straße, die STRASSE", "strasse", ["Straße", "STRASSE"]],
    ["Straße", "stras", ["Straß"]],
    ["ﬀ", "f", ["ﬀ"]],
    ["هذا كِتَابٌ جديد", "كتاب", ["كِتَابٌ"]],
    ["هذا كتاب", "كِتَابٌ", ["كتاب"]],
    ["שָׁלוֹם לך", "שלום", ["שָׁלוֹם"]],
    ["हिन्दी", "ह", ["ह"]],
    ["10\u00a0km", "10 km", ["10\u00a0km"]],
    ["co\u00adoperate", "coop", ["co\u00adop"]],
    ["ｶﾞﾗｽ", "ラ", ["ﾗ"]],
    ["👍🏽 ok", "ok", ["ok"]],
    ["anything", "", []],
    ["anything", " ", []],
    ["anything", "\u0301\u00ad", []],
  ])("in %p of %p are %p", (text, wanted, found) => {
    expect(cut(text, findAll(text, wanted))).toEqual(found);
  });
});
