import type { GgmlAddon } from "../../../runtimes/index.ts";
import type { EncoderForm } from "./encoder/encoder-graph.ts";

/**
 * The part of the native addon that is whisper.cpp's; its times are in units of 10 ms from the start of the samples.
 */
export interface WhisperAddon extends GgmlAddon {
  Model: new (path: string, options: NativeModelOptions) => NativeModel;
  /** Returns the forms of the encoder that this processor can run, the fastest first. */
  encoderForms(): EncoderForm[];
  Encoder: new (options: NativeEncoderOptions) => NativeEncoder;
  /** Without an encoder, whisper.cpp's own encoder is used. */
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
  /** Number of topmost decoder layers that are used for alignment; only with preset 1. */
  alignmentLayers: number;
  /** Number of states whose texts are decoded together; 1: each decodes alone. */
  slots: number;
}

/** How often graphs of one kind were evaluated for states that have a slot. */
export interface NativeEvaluations {
  /** Different graphs, each built once. */
  graphs: number;
  evaluated: number;
  /** Windows, rows of texts, or whole texts in all evaluations. */
  items: number;
}

/** Graphs that a model's states evaluated so far, and the bytes of weights that these graphs read. */
export interface NativeWork {
  graphs: number;
  weightBytes: number;
  windows: NativeEvaluations;
  steps: NativeEvaluations;
  /** Long prompts and aligned texts. */
  passes: NativeEvaluations;
  /** Digest of all nodes of the last graph of steps: a device replays a graph whose nodes stay. */
  stepNodes: string;
}

export interface NativeModel {
  languages(): string[];
  work(): NativeWork;
  /** Frees the weights once the model's states are gone too. */
  dispose(): void;
}

export interface NativeEncoderOptions {
  /** Path of libonnxruntime.so.1. */
  library: string;
  /** Path of the ONNX file: `spectrum` [1][mels][frames] → `encoding` [1][frames / 2][width]. */
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
  /** Returns the encoder's output for the first 30 s: [position][width]. */
  encode(samples: Float32Array, threads: number): Promise<Float32Array>;
  /** Returns the probability of each language that the model knows, by code. */
  detectLanguage(samples: Float32Array, threads: number): Promise<Record<string, number>>;
  transcribe(samples: Float32Array, options: NativeTranscribeOptions): Promise<NativeTranscript>;
  abort(): void;
  dispose(): void;
}

export interface NativeTranscribeOptions {
  language: string;
  initialPrompt: string;
  /** Text with which the transcript begins; needs `withoutTimestamps`. Of a long one, the last tokens. */
  prefix: string;
  /** Maximum number of tokens after the prefix; 0: whisper.cpp's limit. */
  maxTokens: number;
  threads: number;
  beamSize: number;
  /** Number of encoder positions of 20 ms each; 0: all. */
  audioContext: number;
  temperatureIncrement: number;
  entropyThreshold: number;
  logProbThreshold: number;
  noSpeechThreshold: number;
  withoutTimestamps: boolean;
  suppressNonSpeech: boolean;
  /** Whether English is written, whatever language is spoken. */
  translate: boolean;
}

export interface NativeTranscript {
  /** Whether the call was ended by `abort`. */
  aborted: boolean;
  language: string;
  segments: NativeSegment[];
}

export interface NativeSegment {
  start: number;
  end: number;
  /** 0 to 1, of the window in which the segment was decoded. */
  noSpeechProbability: number;
  /** Mean over the segment's text tokens that were not given; 0 is certain. */
  averageLogProbability: number;
  pieces: NativePiece[];
}

/** One or more tokens that form whole characters together. */
export interface NativePiece {
  text: string;
  /** 0 to 1. */
  probability: number;
  /** Whether it belongs to the prefix. */
  isGiven: boolean;
  /** End of the piece, by alignment; -1: not aligned. */
  alignedEnd: number;
}
