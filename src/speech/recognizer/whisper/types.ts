import type { Span } from "../../../timeline/index.ts";
import type { EncoderOptions } from "../recognizer.ts";
import type { NativeSegment, NativeTranscript, NativeWork } from "./addon.ts";

/** Loaded weights, shared by any number of states. */
export interface WhisperModel {
  /** Codes of the languages the model knows, as whisper writes them. */
  readonly languages: string[];
  /** Creates a state (about 200 MB for base). @param encoder replaces whisper.cpp's own encoder */
  createState(encoder?: EncoderOptions): WhisperState;
  /** Returns the work of all states since the model was loaded. */
  work(): NativeWork;
  /** Frees the weights, once the model's states are disposed too. */
  dispose(): void;
}

/** The working memory of one transcription at a time. A second call during a running one throws. */
export interface WhisperState {
  /** Returns the encoder's output for the first 30 s of 16 kHz mono samples: [position of 20 ms][width]. */
  encode(samples: Float32Array, threads: number): Promise<Float32Array>;
  /** Returns the probability of each language in the first 30 s of 16 kHz mono samples, by code; they sum up to 1. */
  detectLanguage(samples: Float32Array, threads: number): Promise<Record<string, number>>;
  /** Transcribes 16 kHz mono samples, -1 to 1. */
  transcribe(samples: Float32Array, options: TranscribeOptions): Promise<WhisperResult>;
  /** Ends the running call within a few hundred milliseconds; its result has `aborted: true`. */
  abort(): void;
  /** Aborts the running call and frees the memory. */
  dispose(): void;
}

export interface TranscribeOptions {
  /** One of the model's languages. */
  language: string;
  threads: number;
  /** Number of hypotheses that are followed at the same time; 1: greedy. Default 5. */
  beamSize?: number;
  /** Temperature step when a doubtful result is decoded again; 0: never. Default 0.2. */
  temperatureIncrement?: number;
  /** Text that precedes the audio: names and terms to expect. */
  initialPrompt?: string;
  /**
   * Text with which the samples begin, only `withoutTimestamps`. The result has what follows it; a word that continues the
   * text's last one has no space before it.
   */
  prefix?: string;
  /** Maximum number of tokens after the prefix. Default: as many as whisper allows. */
  maxTokens?: number;
  /** Encoder positions of 20 ms each to use; must cover the samples. Default: all 1500 of the 30 s window. */
  audioContext?: number;
  /** Leave out whisper's own timestamp tokens. Default false. */
  withoutTimestamps?: boolean;
  /** Never write symbols that aren't speech, such as musical notes. Default false. */
  suppressNonSpeech?: boolean;
  /** Write English, whatever language is spoken. Default false. */
  translate?: boolean;
}

/** After an abort, there are no segments. */
export interface WhisperResult extends Pick<NativeTranscript, "aborted"> {
  segments: WhisperSegment[];
}

/** Text between two of whisper's timestamps. */
export interface WhisperSegment extends Pick<NativeSegment, "noSpeechProbability" | "averageLogProbability"> {
  text: string;
  words: WhisperWord[];
}

export interface WhisperWord extends Span {
  /** As whisper wrote it, with the space before it and the punctuation after it. */
  text: string;
  /** 0 to 1, the mean over the word's tokens. */
  probability: number;
}
