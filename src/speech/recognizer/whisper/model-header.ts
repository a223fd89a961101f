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
