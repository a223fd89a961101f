import type { Language } from "../recognizer.ts";
import { type ModelSizes, readSizes } from "./model-file/index.ts";

/** Names of the sizes by number of encoder layers, from OpenAI's model card. */
const SIZE_NAMES: Record<number, string> = { 4: "tiny", 6: "base", 12: "small", 24: "medium", 32: "large" };

/** Vocabulary sizes: English only; of large-v3, with one more language; and multilingual without language tokens. */
const ENGLISH_VOCABULARY = 51_864;
const LARGE_V3_VOCABULARY = 51_866;
const VOCABULARY_WITHOUT_LANGUAGES = 51_766;

/** Numbers of whisper.h's `whisper_alignment_heads_preset`, by model type. */
const ALIGNMENT_PRESETS: Record<string, number> = {
  "tiny.en": 3,
  tiny: 4,
  "base.en": 5,
  base: 6,
  "small.en": 7,
  small: 8,
  "medium.en": 9,
  medium: 10,
  "large-v2": 12,
  "large-v3": 13,
  "large-v3-turbo": 14,
};
/** Preset 1: all heads of the topmost layers. */
const TOPMOST_LAYERS = 1;

/** Whisper's languages in the order of their tokens; models before large-v3 lack the last one. */
const WHISPER_LANGUAGES = (
  "en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg lt la mi ml cy " +
  "sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so af oc ka be tg sd gu am yi lo " +
  "uz fo ht ps tk nn mt sa lb my bo tl mg as tt haw ln ha ba jw su yue"
).split(" ");
/** ISO codes of the languages for which the model uses another code. */
const ISO_CODES: Readonly<Record<string, string>> = { jw: "jv" };

/** Returns OpenAI's name of a model: base, small.en, large-v3-turbo; "custom" for an unknown shape. */
export function modelType({ vocabulary, audioLayers, textLayers }: ModelSizes): string {
  const size = SIZE_NAMES[audioLayers];
  if (size === "large" && vocabulary >= LARGE_V3_VOCABULARY && textLayers === 4) return "large-v3-turbo";
  // A distilled model has fewer decoder layers than encoder layers.
  if (size === undefined || textLayers !== audioLayers) return "custom";
  // Versions 1 and 2 of large have the same shape; version 1 is hardly used any more.
  if (size === "large") return vocabulary < LARGE_V3_VOCABULARY ? "large-v2" : "large-v3";
  return vocabulary === ENGLISH_VOCABULARY ? `${size}.en` : size;
}

/**
 * Returns whether a model can translate to English. A model for English has no other language. The turbo model and
 * distilled ones, whose decoders have fewer layers than their encoders, were trained without translations and write the
 * spoken language.
 */
export function canTranslate(modelPath: string): boolean {
  const { vocabulary, audioLayers, textLayers } = readSizes(modelPath);
  return vocabulary > ENGLISH_VOCABULARY && textLayers >= audioLayers;
}

/**
 * Returns the attention heads that follow the audio: the published ones of the model where they exist. Otherwise they
 * are all heads of the upper half of the decoder, as in OpenAI's own code for models without a list.
 */
export function alignmentHeads(sizes: ModelSizes): { alignmentHeads: number; alignmentLayers: number } {
  const preset = ALIGNMENT_PRESETS[modelType(sizes)];
  return preset === undefined
    ? { alignmentHeads: TOPMOST_LAYERS, alignmentLayers: Math.max(1, Math.floor(sizes.textLayers / 2)) }
    : { alignmentHeads: preset, alignmentLayers: -1 };
}

const known = new Map<number, Language[]>();

/**
 * Returns a model's languages, sorted by code, by the size of its vocabulary. @throws {Error} with a hint for the user
 */
export function readLanguages(modelPath: string): Language[] {
  const { vocabulary } = readSizes(modelPath);
  const before = known.get(vocabulary);
  if (before !== undefined) return before;
  const count = vocabulary <= ENGLISH_VOCABULARY ? 1 : vocabulary - VOCABULARY_WITHOUT_LANGUAGES;
  const names = new Intl.DisplayNames(["en"], { type: "language" });
  const languages = WHISPER_LANGUAGES.slice(0, count)
    .map((modelCode) => {
      const code = ISO_CODES[modelCode] ?? modelCode;
      return { code, name: names.of(code) ?? code, modelCode };
    })
    .sort((a, b) => (a.code < b.code ? -1 : 1));
  known.set(vocabulary, languages);
  return languages;
}
