import { graphemesOf } from "../break-points.ts";
import { Face, type FaceName } from "./face.ts";

export type Weight = "regular" | "bold";

/** A fragment of text in one face. */
export interface FaceRun {
  readonly text: string;
  readonly face: Face;
}

/**
 * Faces of the scripts that always use the same ones. The face for Han and the other East Asian scripts depends on the
 * language. Symbols use any face that covers them.
 */
const facesByScript: readonly (readonly [RegExp, readonly FaceName[]])[] = [
  [/[\p{scx=Latin}\p{scx=Greek}\p{scx=Cyrillic}]/u, ["latin"]],
  [/\p{scx=Arabic}/u, ["arabic", "arabicRest"]],
  [/\p{scx=Hebrew}/u, ["hebrew"]],
  [/\p{scx=Armenian}/u, ["armenian"]],
  [/\p{scx=Georgian}/u, ["georgian"]],
  [/\p{scx=Ethiopic}/u, ["ethiopic"]],
  [/\p{scx=Devanagari}/u, ["devanagari"]],
  [/\p{scx=Bengali}/u, ["bengali"]],
  [/\p{scx=Gurmukhi}/u, ["gurmukhi"]],
  [/\p{scx=Gujarati}/u, ["gujarati"]],
  [/\p{scx=Oriya}/u, ["oriya"]],
  [/\p{scx=Tamil}/u, ["tamil"]],
  [/\p{scx=Telugu}/u, ["telugu"]],
  [/\p{scx=Kannada}/u, ["kannada"]],
  [/\p{scx=Malayalam}/u, ["malayalam"]],
  [/\p{scx=Sinhala}/u, ["sinhala"]],
  [/\p{scx=Thai}/u, ["thai"]],
  [/\p{scx=Lao}/u, ["lao"]],
  [/\p{scx=Khmer}/u, ["khmer"]],
  [/\p{scx=Myanmar}/u, ["myanmar"]],
  [/\p{scx=Tibetan}/u, ["tibetan"]],
];

const hangul = /\p{Script=Hangul}/u;
const kana = /[\p{Script=Hiragana}\p{Script=Katakana}]/u;
const eastAsian = /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Bopomofo}\p{scx=Hangul}\uFF00-\uFFEF]/u;
const pictograph = /\p{Extended_Pictographic}/u;
/** Characters that are not specific to a script. They use the face of the text around them if it covers them. */
const common = /[\p{Script=Common}\p{Script=Inherited}]/u;
/**
 * Text in which every character is a grapheme of its own. It needs no segmentation into graphemes, which takes longer
 * than shaping.
 */
const withoutMarks = /^[\p{L}\p{N}\p{P}\p{Zs}]+$/u;
const invisible = /\p{Default_Ignorable_Code_Point}/u;
/** A character in a key cap, for which the emoji face has a glyph: in all others the cap is wider than its character. */
const keycap = /\u20E3/;
/** Marks around a character, which few faces have. */
const enclosing = /\p{Me}/u;

/** Frequent characters that occur only in traditional or only in simplified Chinese. */
const traditional = /[這個們來時說會國對為過還沒學點樣經發開關麼嗎給讓從與進動間問題無]/gu;
const simplified = /[这个们来时说会国对为过还没学点样经发开关么吗给让从与进动间问题无]/gu;

/**
 * Chooses the faces for a text: by script, by language for shared scripts, and by the characters that a face covers.
 */
export class FaceChoice {
  readonly #loaded = new Map<FaceName, Face>();
  readonly #eastAsian: readonly FaceName[];

  /**
   * @param language language of the document, ISO 639
   * @param sample part of its text, which distinguishes traditional from simplified Chinese
   */
  constructor(language: string | null, sample: string) {
    this.#eastAsian = eastAsianFaces(language, sample);
  }

  /** Splits a text where the face changes, but never within a grapheme. */
  split(text: string, weight: Weight): FaceRun[] {
    const runs: { text: string; face: Face }[] = [];
    const graphemes = withoutMarks.test(text) ? Array.from(text) : graphemesOf(text);
    const leading = graphemes.find((grapheme) => !common.test(grapheme));
    let face = leading === undefined ? undefined : this.#find(leading, undefined, weight);
    for (const grapheme of graphemes) {
      face = this.#find(grapheme, face, weight);
      const last = runs.at(-1);
      if (last?.face === face) last.text += grapheme;
      else runs.push({ text: grapheme, face });
    }
    return runs;
  }

  #load(name: FaceName): Face {
    const face = this.#loaded.get(name) ?? new Face(name);
    this.#loaded.set(name, face);
    return face;
  }

  /**
   * Returns the first candidate that covers the whole grapheme. If there is none, returns the first that covers its
   * base character, otherwise a face that shows a box.
   */
  #find(grapheme: string, before: Face | undefined, weight: Weight): Face {
    const codePoints = Array.from(grapheme).filter((character) => !invisible.test(character));
    const numbers = codePoints.map((character) => character.codePointAt(0) ?? 0);
    if (
      before !== undefined &&
      common.test(grapheme) &&
      !enclosing.test(grapheme) &&
      numbers.every((codePoint) => before.covers(codePoint))
    ) {
      return before;
    }
    const candidates = this.#candidates(grapheme, weight);
    let withBase: Face | undefined;
    for (const name of candidates) {
      const face = this.#load(name);
      if (numbers.every((codePoint) => face.covers(codePoint))) return face;
      if (numbers[0] !== undefined && face.covers(numbers[0])) withBase ??= face;
    }
    return withBase ?? this.#load(weight === "bold" ? "latinBold" : "latin");
  }

  #candidates(grapheme: string, weight: Weight): FaceName[] {
    const candidates = this.#candidatesOfBase(grapheme, weight);
    if (keycap.test(grapheme)) return ["emoji", ...candidates, "symbols"];
    return enclosing.test(grapheme) ? [...candidates, "symbols"] : candidates;
  }

  #candidatesOfBase(grapheme: string, weight: Weight): FaceName[] {
    const latin: FaceName[] = weight === "bold" ? ["latinBold", "latin"] : ["latin"];
    const base = String.fromCodePoint(grapheme.codePointAt(0) ?? 0);
    const ofScript = facesByScript.find(([script]) => script.test(base))?.[1];
    if (ofScript !== undefined) return ofScript[0] === "latin" ? latin : [...ofScript, ...latin];
    if (hangul.test(base)) return ["korean", ...latin];
    if (eastAsian.test(base)) return [...this.#eastAsian, ...latin];
    if (pictograph.test(base)) return [...latin, "emoji", "symbols", "symbols2", ...this.#eastAsian];
    return [...latin, "symbols", "symbols2", "emoji", ...this.#eastAsian];
  }
}

function eastAsianFaces(language: string | null, sample: string): FaceName[] {
  const chinese: FaceName[] =
    language === "yue" || count(sample, traditional) > count(sample, simplified)
      ? ["traditionalChinese", "simplifiedChinese"]
      : ["simplifiedChinese", "traditionalChinese"];
  if (language === "ko") return ["korean", "japanese", ...chinese];
  if (language === "ja" || (language !== "zh" && kana.test(sample))) return ["japanese", ...chinese, "korean"];
  return [...chinese, "japanese", "korean"];
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}
