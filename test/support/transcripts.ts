import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import {
  type ExportDocument,
  type ExportFormat,
  type ExportSegment,
  exportTranscript,
} from "../../src/exports/index.ts";

/** Returns a segment with this text. The duration of a word is proportional to its length. */
export function segment(text: string, startSeconds: number, endSeconds: number, speaker = 0): ExportSegment {
  const perCharacter = ((endSeconds - startSeconds) * 1000) / text.length;
  const timeAt = (offset: number) => Math.round(startSeconds * 1000 + offset * perCharacter);
  const words = [...text.matchAll(/\s*\S+/g)].map(({ 0: word, index }): ExportSegment["words"][number] => [
    word,
    timeAt(index),
    timeAt(index + word.length),
    0.9,
  ]);
  const [startMilliseconds, endMilliseconds] = [Math.round(startSeconds * 1000), Math.round(endSeconds * 1000)];
  return { startMilliseconds, endMilliseconds, speaker, text, words };
}

/** Returns a transcript of consecutive texts of four seconds each, with two alternating speakers. */
export function transcript(texts: readonly string[], head: Partial<ExportDocument> = {}): ExportDocument {
  return {
    id: "0192a4d5-0000-7000-8000-000000000001",
    title: null,
    name: "meeting",
    createdAt: Date.UTC(2026, 10, 21, 8, 5),
    durationSeconds: texts.length * 4,
    language: "en",
    speakers: ["A", "B"],
    segments: texts.map((text, index) => segment(text, index * 4, index * 4 + 4, index % 2)),
    ...head,
  };
}

/** Returns the bytes of an exported document. */
export async function exportedBytes(format: ExportFormat, document: ExportDocument): Promise<Uint8Array> {
  using directory = temporaryDirectory();
  using made = await exportTranscript(format, document, { path: join(directory.path, "export") });
  return await made.content.bytes();
}

/** Returns an exported document as text. Bytes that are not UTF-8 throw. */
export async function exportedText(format: ExportFormat, document: ExportDocument): Promise<string> {
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await exportedBytes(format, document));
}

/** Short sentences in every script that Whisper writes, by language. */
export const samples: Readonly<Record<string, readonly string[]>> = {
  de: ["Schön, dass Sie da sind; Fräulein Müller fährt nach Köln.", "Ja, das größte Problem ist die Straße."],
  vi: ["Xin chào các bạn, hôm nay trời đẹp quá."],
  tr: ["Günaydın, nasılsınız? İstanbul'da yağmur yağıyor."],
  pl: ["Zażółć gęślą jaźń, proszę pana."],
  ru: ["Добрый день, как ваши дела?"],
  el: ["Καλημέρα, τι κάνετε σήμερα;"],
  hy: ["Բարև ձեզ, ինչպե՞ս եք։"],
  ka: ["გამარჯობა, როგორ ხართ?"],
  he: ["שלום לכולם, מה שלומכם היום?", "בְּרֵאשִׁית בָּרָא אֱלֹהִים אֵת הַשָּׁמַיִם"],
  ar: ["مرحبا بكم في هذا اللقاء، كيف حالكم اليوم؟", "السَّلامُ عَلَيْكُمْ، لا بأس"],
  fa: ["سلام، می‌خواهم درباره‌ی زبان فارسی صحبت کنم"],
  ur: ["السلام علیکم، آپ کیسے ہیں؟ ٹھیک ہے"],
  ps: ["ستړي مه شئ، څنګه یاست؟"],
  hi: ["नमस्ते, मैं हिन्दी में बात कर रहा हूँ। क्षत्रिय श्री विद्यार्थी कि किताब।"],
  ne: ["नमस्कार, तपाईंलाई कस्तो छ?"],
  bn: ["আমি ভালো আছি, আপনি কেমন আছেন?"],
  pa: ["ਸਤ ਸ੍ਰੀ ਅਕਾਲ, ਤੁਸੀਂ ਕਿਵੇਂ ਹੋ?"],
  gu: ["નમસ્તે, તમે કેમ છો?"],
  ta: ["வணக்கம், நீங்கள் எப்படி இருக்கிறீர்கள்?"],
  te: ["నమస్కారం, మీరు ఎలా ఉన్నారు?"],
  kn: ["ನಮಸ್ಕಾರ, ನೀವು ಹೇಗಿದ್ದೀರಿ?"],
  ml: ["നമസ്കാരം, സുഖമാണോ?"],
  si: ["ආයුබෝවන්, ඔබට කොහොමද?"],
  th: ["สวัสดีครับ วันนี้อากาศดีมาก น้ำใจผู้ใหญ่ที่นี่"],
  lo: ["ສະບາຍດີ ເຈົ້າສະບາຍດີບໍ"],
  km: ["សួស្តី តើអ្នកសុខសប្បាយទេ"],
  my: ["မင်္ဂလာပါ နေကောင်းလား"],
  bo: ["བཀྲ་ཤིས་བདེ་ལེགས།"],
  am: ["ሰላም፣ እንዴት ነህ?"],
  zh: ["今天天气很好，我们一起去公园散步吧。", "因为天气真的很好，所以大家都很高兴。"],
  yue: ["佢哋今日去咗邊度呀？"],
  ja: ["今日は天気がいいから、散歩に行きましょう。", "コンピューターで「実験」です。"],
  ko: ["안녕하세요, 오늘 날씨가 정말 좋네요."],
};

/** Texts that may break exporters: markup, controls, lone surrogates, and difficult cases for fonts and bidi. */
export const hostileTexts: Readonly<Record<string, string>> = {
  tags: "<b>bold</b> <script>alert(1)</script> </w:t></w:p> ]]> <!-- --> <v A>",
  entities: "&amp; &lt;i&gt; &#x41; &nbsp; & <",
  arrows: "a --> b ---> c <-- d",
  times: "00:00:01,000 --> 00:00:02,000",
  styling: "{\\an8}top \\N \\h {b}x{/b} <font color=red>red</font>",
  pdfSyntax: ") Tj ET ( << >> endstream endobj %%EOF \\",
  controls: "a\u0000b\u0007c\u001b[31md\u0085e\u2028f\r\ng\th",
  overrides: "user\u202egnp.exe\u202c \u2066isolated \u2067and open",
  loneSurrogates: "\ud83d alone \ude00 and \ud800\ud800",
  noncharacters: "\ufffe \uffff \u{1ffff} \ufdd0 \ufeff",
  privateUse: "\ue000 \u{f0000} \u{10fffd}",
  manyMarks: `a${"\u0301\u0488".repeat(2000)} b`,
  marksAlone: "\u0301 \u05b0\u05b1 \u064b\u0651 \u0e31",
  joinersAlone: "\u200c\u200d\u200c",
  endlessWord: "x".repeat(5000),
  endlessArabic: "س".repeat(2000),
  endlessThai: "ก".repeat(2000),
  enclosed: "a\u20e3b 1\ufe0f\u20e32\u20e3 x\u20ddy\u20de \u0434\u0488\u0434 字\u20e3 ש\u20dd",
  emoji: "👨‍👩‍👧‍👦 🇩🇪 👍🏽 ♪ 🎵 1️⃣ ☃️",
  mixedDirections: "abc שלום 123 (def) עולם ghi ".repeat(40),
  everyPlane: Array.from({ length: 0x11 }, (_, plane) => String.fromCodePoint(plane * 0x10000 + 0x1234)).join(" "),
};
