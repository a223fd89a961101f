import type { Language } from "../recognizer.ts";
import { type ModelSizes, readSizes } from "./model-file/index.ts";

/** Properties of a model that the first bytes of its ggml file give. */
export interface ModelHeader {
  /** OpenAI's name of the size: base, small.en, large-v3, large-v3-turbo; "custom" for an unknown shape. */
  type: string;
  vocabularySize: number;
  /** Width of the encoder's output at each position. */
  audioWidth: number;
  audioLayers: number;
  textLayers: number;
  mels: number;
}

/** Names of the sizes by number of encoder layers, from OpenAI's model card. */
const sizes: Record<number, string> = { 4: "tiny", 6: "base", 12: "small", 24: "medium", 32: "large" };

/** Vocabulary sizes without the multilingual models' extra token, and with the additional language of large-v3. */
const englishVocabulary = 51864;
const largeV3Vocabulary = 51866;

/**
 * Reads a whisper model's header.
 * @throws {Error} with a hint for the user when the file is not a ggml whisper model
 */
export function readModelHeader(path: string): ModelHeader {
  return modelHeader(readSizes(path));
}

/** Returns the header that a whisper model's sizes give. */
export function modelHeader({ vocabulary, audioWidth, audioLayers, textLayers, mels }: ModelSizes): ModelHeader {
  const type = typeOf(vocabulary, audioLayers, textLayers);
  return { type, vocabularySize: vocabulary, audioWidth, audioLayers, textLayers, mels };
}

function typeOf(vocabularySize: number, audioLayers: number, textLayers: number): string {
  const size = sizes[audioLayers];
  if (size === undefined) {
    return "custom";
  }
  if (size === "large") {
    if (vocabularySize < largeV3Vocabulary) {
      // Versions 1 and 2 have the same shape; version 1 is hardly used any more.
      return textLayers === audioLayers ? "large-v2" : "custom";
    }
    return textLayers === audioLayers ? "large-v3" : textLayers === 4 ? "large-v3-turbo" : "custom";
  }
  // A distilled model has fewer decoder layers than encoder layers.
  if (textLayers !== audioLayers) {
    return "custom";
  }
  return vocabularySize === englishVocabulary ? `${size}.en` : size;
}

/** Numbers of whisper.h's `whisper_alignment_heads_preset`, by model type. */
const presets: Record<string, number> = {
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
const topmostLayers = 1;

/**
 * Returns the attention heads that follow the audio: the published ones of the model where they exist. Otherwise they
 * are all heads of the upper half of the decoder, as in OpenAI's own code for models without a list.
 */
export function alignmentHeads(header: ModelHeader): { alignmentHeads: number; alignmentLayers: number } {
  const preset = presets[header.type];
  return preset === undefined
    ? { alignmentHeads: topmostLayers, alignmentLayers: Math.max(1, Math.floor(header.textLayers / 2)) }
    : { alignmentHeads: preset, alignmentLayers: -1 };
}

/** Whisper's languages in the order of their tokens; models before large-v3 lack the last one. */
const whisperCodes = (
  "en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg lt la mi ml cy " +
  "sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so af oc ka be tg sd gu am yi lo " +
  "uz fo ht ps tk nn mt sa lb my bo tl mg as tt haw ln ha ba jw su yue"
).split(" ");

/** ISO codes of the languages for which the model uses another code. */
const isoCodes: Readonly<Record<string, string>> = { jw: "jv" };

/** Number of tokens in the multilingual vocabulary without its language tokens. */
const multilingualVocabularyWithoutLanguages = 51_766;

/**
 * Returns the languages that a model accepts, sorted by code, as derived from the size of its
 * vocabulary.
 * @throws {Error} with a hint for the user when the file is not such a model
 */
export function readLanguages(modelPath: string): Language[] {
  return languagesOf(readModelHeader(modelPath).vocabularySize);
}

const known = new Map<number, Language[]>();

function languagesOf(vocabularySize: number): Language[] {
  const before = known.get(vocabularySize);
  if (before !== undefined) return before;
  const count = vocabularySize <= englishVocabulary ? 1 : vocabularySize - multilingualVocabularyWithoutLanguages;
  const names = new Intl.DisplayNames(["en"], { type: "language" });
  const languages = whisperCodes
    .slice(0, count)
    .map((modelCode) => {
      const code = isoCodes[modelCode] ?? modelCode;
      return { code, name: names.of(code) ?? code, modelCode };
    })
    .sort((a, b) => (a.code < b.code ? -1 : 1));
  known.set(vocabularySize, languages);
  return languages;
}
