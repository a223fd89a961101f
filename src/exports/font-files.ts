import arabic from "@expo-google-fonts/ibm-plex-sans-arabic/400Regular/IBMPlexSansArabic_400Regular.ttf" with {
  type: "file",
};
import emoji from "@expo-google-fonts/noto-emoji/400Regular/NotoEmoji_400Regular.ttf" with { type: "file" };
import latin from "@expo-google-fonts/noto-sans/400Regular/NotoSans_400Regular.ttf" with { type: "file" };
import latinBold from "@expo-google-fonts/noto-sans/600SemiBold/NotoSans_600SemiBold.ttf" with { type: "file" };
import arabicRest from "@expo-google-fonts/noto-sans-arabic/400Regular/NotoSansArabic_400Regular.ttf" with {
  type: "file",
};
import armenian from "@expo-google-fonts/noto-sans-armenian/400Regular/NotoSansArmenian_400Regular.ttf" with {
  type: "file",
};
import bengali from "@expo-google-fonts/noto-sans-bengali/400Regular/NotoSansBengali_400Regular.ttf" with {
  type: "file",
};
import devanagari from "@expo-google-fonts/noto-sans-devanagari/400Regular/NotoSansDevanagari_400Regular.ttf" with {
  type: "file",
};
import ethiopic from "@expo-google-fonts/noto-sans-ethiopic/400Regular/NotoSansEthiopic_400Regular.ttf" with {
  type: "file",
};
import georgian from "@expo-google-fonts/noto-sans-georgian/400Regular/NotoSansGeorgian_400Regular.ttf" with {
  type: "file",
};
import gujarati from "@expo-google-fonts/noto-sans-gujarati/400Regular/NotoSansGujarati_400Regular.ttf" with {
  type: "file",
};
import gurmukhi from "@expo-google-fonts/noto-sans-gurmukhi/400Regular/NotoSansGurmukhi_400Regular.ttf" with {
  type: "file",
};
import hebrew from "@expo-google-fonts/noto-sans-hebrew/400Regular/NotoSansHebrew_400Regular.ttf" with { type: "file" };
import japanese from "@expo-google-fonts/noto-sans-jp/400Regular/NotoSansJP_400Regular.ttf" with { type: "file" };
import kannada from "@expo-google-fonts/noto-sans-kannada/400Regular/NotoSansKannada_400Regular.ttf" with {
  type: "file",
};
import khmer from "@expo-google-fonts/noto-sans-khmer/400Regular/NotoSansKhmer_400Regular.ttf" with { type: "file" };
import korean from "@expo-google-fonts/noto-sans-kr/400Regular/NotoSansKR_400Regular.ttf" with { type: "file" };
import lao from "@expo-google-fonts/noto-sans-lao/400Regular/NotoSansLao_400Regular.ttf" with { type: "file" };
import malayalam from "@expo-google-fonts/noto-sans-malayalam/400Regular/NotoSansMalayalam_400Regular.ttf" with {
  type: "file",
};
import myanmar from "@expo-google-fonts/noto-sans-myanmar/400Regular/NotoSansMyanmar_400Regular.ttf" with {
  type: "file",
};
import oriya from "@expo-google-fonts/noto-sans-oriya/400Regular/NotoSansOriya_400Regular.ttf" with { type: "file" };
import simplifiedChinese from "@expo-google-fonts/noto-sans-sc/400Regular/NotoSansSC_400Regular.ttf" with {
  type: "file",
};
import sinhala from "@expo-google-fonts/noto-sans-sinhala/400Regular/NotoSansSinhala_400Regular.ttf" with {
  type: "file",
};
import symbols from "@expo-google-fonts/noto-sans-symbols/400Regular/NotoSansSymbols_400Regular.ttf" with {
  type: "file",
};
import symbols2 from "@expo-google-fonts/noto-sans-symbols-2/400Regular/NotoSansSymbols2_400Regular.ttf" with {
  type: "file",
};
import tamil from "@expo-google-fonts/noto-sans-tamil/400Regular/NotoSansTamil_400Regular.ttf" with { type: "file" };
import traditionalChinese from "@expo-google-fonts/noto-sans-tc/400Regular/NotoSansTC_400Regular.ttf" with {
  type: "file",
};
import telugu from "@expo-google-fonts/noto-sans-telugu/400Regular/NotoSansTelugu_400Regular.ttf" with { type: "file" };
import thai from "@expo-google-fonts/noto-sans-thai/400Regular/NotoSansThai_400Regular.ttf" with { type: "file" };
import tibetan from "@expo-google-fonts/noto-serif-tibetan/400Regular/NotoSerifTibetan_400Regular.ttf" with {
  type: "file",
};
import shaper from "harfbuzzjs/dist/harfbuzz.wasm" with { type: "file" };
import subsetter from "harfbuzzjs/dist/harfbuzz-subset.wasm" with { type: "file" };

/**
 * Paths of the font faces. Only this module knows where the asset files of an export are. The faces are Noto's
 * (OFL-1.1), at least one for every script that the recognizer writes. For Arabic, IBM Plex's face (OFL-1.1) comes first: Noto
 * composes a letter from several glyphs, letter and dots. That doubles the size of a file and confuses PDF readers.
 */
export const facePaths = {
  latinBold,
  latin,
  arabic,
  arabicRest,
  hebrew,
  armenian,
  georgian,
  ethiopic,
  devanagari,
  bengali,
  gurmukhi,
  gujarati,
  oriya,
  tamil,
  telugu,
  kannada,
  malayalam,
  sinhala,
  thai,
  lao,
  khmer,
  myanmar,
  tibetan,
  simplifiedChinese,
  traditionalChinese,
  japanese,
  korean,
  symbols,
  symbols2,
  emoji,
} as const;

export type FaceName = keyof typeof facePaths;

/**
 * Path of HarfBuzz's shaper, which its package loads itself from the folder of the bundled code. A compiled binary
 * contains the file there because it is imported here. This requires that embedded files keep their names (Bun.build's
 * `naming: { asset: "[name].[ext]" }`).
 */
export const shaperPath: string = shaper;

/** Path of HarfBuzz's subsetter, a WebAssembly module without imports. */
export const subsetterPath: string = subsetter;

/**
 * Scripts that always use the same faces. The face for Han and the other East Asian scripts depends on the language.
 * Symbols use any face that covers them.
 */
export const facesByScript: readonly (readonly [RegExp, readonly FaceName[]])[] = [
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
