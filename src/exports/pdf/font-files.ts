/**
 * Paths of the font faces. The faces are Noto's (OFL-1.1), at least one for every script that the recognizer writes. For
 * Arabic, IBM Plex's face (OFL-1.1) comes first: Noto composes a letter from several glyphs, letter and dots. That
 * doubles the size of a file and confuses PDF readers.
 */

export { default as arabic } from "@expo-google-fonts/ibm-plex-sans-arabic/400Regular/IBMPlexSansArabic_400Regular.ttf";
export { default as emoji } from "@expo-google-fonts/noto-emoji/400Regular/NotoEmoji_400Regular.ttf";
export { default as latin } from "@expo-google-fonts/noto-sans/400Regular/NotoSans_400Regular.ttf";
export { default as latinBold } from "@expo-google-fonts/noto-sans/600SemiBold/NotoSans_600SemiBold.ttf";
export { default as arabicRest } from "@expo-google-fonts/noto-sans-arabic/400Regular/NotoSansArabic_400Regular.ttf";
export { default as armenian } from "@expo-google-fonts/noto-sans-armenian/400Regular/NotoSansArmenian_400Regular.ttf";
export { default as bengali } from "@expo-google-fonts/noto-sans-bengali/400Regular/NotoSansBengali_400Regular.ttf";
export { default as devanagari } from "@expo-google-fonts/noto-sans-devanagari/400Regular/NotoSansDevanagari_400Regular.ttf";
export { default as ethiopic } from "@expo-google-fonts/noto-sans-ethiopic/400Regular/NotoSansEthiopic_400Regular.ttf";
export { default as georgian } from "@expo-google-fonts/noto-sans-georgian/400Regular/NotoSansGeorgian_400Regular.ttf";
export { default as gujarati } from "@expo-google-fonts/noto-sans-gujarati/400Regular/NotoSansGujarati_400Regular.ttf";
export { default as gurmukhi } from "@expo-google-fonts/noto-sans-gurmukhi/400Regular/NotoSansGurmukhi_400Regular.ttf";
export { default as hebrew } from "@expo-google-fonts/noto-sans-hebrew/400Regular/NotoSansHebrew_400Regular.ttf";
export { default as japanese } from "@expo-google-fonts/noto-sans-jp/400Regular/NotoSansJP_400Regular.ttf";
export { default as kannada } from "@expo-google-fonts/noto-sans-kannada/400Regular/NotoSansKannada_400Regular.ttf";
export { default as khmer } from "@expo-google-fonts/noto-sans-khmer/400Regular/NotoSansKhmer_400Regular.ttf";
export { default as korean } from "@expo-google-fonts/noto-sans-kr/400Regular/NotoSansKR_400Regular.ttf";
export { default as lao } from "@expo-google-fonts/noto-sans-lao/400Regular/NotoSansLao_400Regular.ttf";
export { default as malayalam } from "@expo-google-fonts/noto-sans-malayalam/400Regular/NotoSansMalayalam_400Regular.ttf";
export { default as myanmar } from "@expo-google-fonts/noto-sans-myanmar/400Regular/NotoSansMyanmar_400Regular.ttf";
export { default as oriya } from "@expo-google-fonts/noto-sans-oriya/400Regular/NotoSansOriya_400Regular.ttf";
export { default as simplifiedChinese } from "@expo-google-fonts/noto-sans-sc/400Regular/NotoSansSC_400Regular.ttf";
export { default as sinhala } from "@expo-google-fonts/noto-sans-sinhala/400Regular/NotoSansSinhala_400Regular.ttf";
export { default as symbols } from "@expo-google-fonts/noto-sans-symbols/400Regular/NotoSansSymbols_400Regular.ttf";
export { default as symbols2 } from "@expo-google-fonts/noto-sans-symbols-2/400Regular/NotoSansSymbols2_400Regular.ttf";
export { default as tamil } from "@expo-google-fonts/noto-sans-tamil/400Regular/NotoSansTamil_400Regular.ttf";
export { default as traditionalChinese } from "@expo-google-fonts/noto-sans-tc/400Regular/NotoSansTC_400Regular.ttf";
export { default as telugu } from "@expo-google-fonts/noto-sans-telugu/400Regular/NotoSansTelugu_400Regular.ttf";
export { default as thai } from "@expo-google-fonts/noto-sans-thai/400Regular/NotoSansThai_400Regular.ttf";
export { default as tibetan } from "@expo-google-fonts/noto-serif-tibetan/400Regular/NotoSerifTibetan_400Regular.ttf";
