import { type ModelSizes, readSizes } from "./model-file/index.ts";

/** What the first bytes of a ggml model file say. */
export interface ModelHeader {
  /** OpenAI's name for the size: base, small.en, large-v3, large-v3-turbo; of an unknown shape, "custom". */
  type: string;
  vocabularySize: number;
  /** Numbers for each position that the encoder gives. */
  audioWidth: number;
  audioLayers: number;
  textLayers: number;
  mels: number;
}

/** Sizes by encoder layers, from OpenAI's model card. */
const sizes: Record<number, string> = { 4: "tiny", 6: "base", 12: "small", 24: "medium", 32: "large" };

/** The vocabulary without the multilingual models' extra token, and of those with one more language. */
const englishVocabulary = 51864;
const largeV3Vocabulary = 51866;

/** Reads a whisper model's header. @throws an Error that says what to do where the file is no ggml whisper model */
export function readModelHeader(path: string): ModelHeader {
  return modelHeader(readSizes(path));
}

/** Returns what a whisper model's sizes say of it. */
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
      // versions 1 and 2 have the same shape; the first is hardly used any more
      return textLayers === audioLayers ? "large-v2" : "custom";
    }
    return textLayers === audioLayers ? "large-v3" : textLayers === 4 ? "large-v3-turbo" : "custom";
  }
  // a distilled model has fewer decoder layers than its encoder
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
 * Which attention heads follow the audio: the published ones of the model, else all of the upper half of the
 * decoder, as OpenAI's own code does for models without a list.
 */
export function alignmentHeads(header: ModelHeader): { alignmentHeads: number; alignmentLayers: number } {
  const preset = presets[header.type];
  return preset === undefined
    ? { alignmentHeads: topmostLayers, alignmentLayers: Math.max(1, Math.floor(header.textLayers / 2)) }
    : { alignmentHeads: preset, alignmentLayers: -1 };
}
