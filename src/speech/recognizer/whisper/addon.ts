import type { EncoderForm } from "./encoder/index.ts";
import type { WhisperDevice } from "./types.ts";

/**
 * The types of the native addon, whisper.node, as native/src makes it. Only this folder knows them.
 *
 * Times are in whisper.cpp's units of 10 ms from the start of the samples.
 */
export interface NativeAddon {
  version: string;
  /** Whether the backend in a shared library was built with the addon's own ggml; throws where it can't be opened. */
  checkBackend(path: string): boolean;
  /** Registers the backend in a shared library; throws where it can't be used on this machine, or finds no device. */
  loadBackend(path: string): void;
  /** How well a CPU variant suits this CPU; 0: it must not be used on it. */
  cpuScore(path: string): number;
  devices(): WhisperDevice[];
  Model: new (path: string, options: NativeModelOptions) => NativeModel;
  /** In which form an encoder is the faster one on this processor. */
  encoderForm(): EncoderForm;
  Encoder: new (options: NativeEncoderOptions) => NativeEncoder;
  /** Without an encoder whisper.cpp's own encodes. */
  State: new (
    model: NativeModel,
    encoder: NativeEncoder | undefined,
  ) => NativeState;
}

export interface NativeModelOptions {
  useGpu: boolean;
  flashAttention: boolean;
  /** Number in whisper.h's `whisper_alignment_heads_preset`; 0: no alignment. */
  alignmentHeads: number;
  /** With preset 1: how many of the topmost decoder layers align. */
  alignmentLayers: number;
}

export interface NativeModel {
  languages(): string[];
  multilingual(): boolean;
  /** Frees the weights once the model's states are gone too. */
  dispose(): void;
}

export interface NativeEncoderOptions {
  /** libonnxruntime.so.1. */
  library: string;
  /** ONNX file, `spectrum` [1][mels][frames] → `encoding` [1][frames / 2][width]. */
  model: string;
  threads: number;
  mels: number;
  width: number;
}

export interface NativeEncoder {
  /** Frees the weights once the states that use them are gone too. */
  dispose(): void;
}

export interface NativeState {
  /** What the encoder makes of the first 30 s: [position][width]. */
  encode(samples: Float32Array, threads: number): Promise<Float32Array>;
  /** Probability of each language the model knows, by code. */
  detectLanguage(samples: Float32Array, threads: number): Promise<Record<string, number>>;
  transcribe(samples: Float32Array, options: NativeTranscribeOptions): Promise<NativeTranscript>;
  abort(): void;
  dispose(): void;
}

export interface NativeTranscribeOptions {
  language: string;
  initialPrompt: string;
  threads: number;
  beamSize: number;
  /** Encoder positions of 20 ms each; 0: all. */
  audioContext: number;
  temperatureIncrement: number;
  entropyThreshold: number;
  logProbThreshold: number;
  noSpeechThreshold: number;
  withoutTimestamps: boolean;
  suppressNonSpeech: boolean;
  guessTokenTimes: boolean;
}

export interface NativeTranscript {
  aborted: boolean;
  language: string;
  segments: NativeSegment[];
}

export interface NativeSegment {
  start: number;
  end: number;
  noSpeechProbability: number;
  averageLogProbability: number;
  pieces: NativePiece[];
}

/** One or more tokens that make whole characters together. */
export interface NativePiece {
  text: string;
  /** 0 to 1. */
  probability: number;
  /** The moment at which the piece was over, by alignment; -1: not aligned. */
  alignedEnd: number;
  /** From timestamp probabilities, coarse; -1: not guessed. */
  guessedStart: number;
  guessedEnd: number;
}
