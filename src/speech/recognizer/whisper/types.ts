import type { EncoderForm } from "./encoder/index.ts";
/** Something that whisper can compute on. */
export interface WhisperDevice {
  name: string;
  description: string;
  /** The ggml backend that drives it: CPU, Vulkan, CUDA. */
  backend: string;
  kind: "cpu" | "gpu" | "igpu" | "accelerator";
  /** On the PCI bus, e.g. `0000:01:00.0`; empty where the backend knows none. */
  address: string;
  memoryFreeBytes: number;
  memoryTotalBytes: number;
}

/** whisper.cpp with its backends, loaded into this process. */
export interface WhisperRuntime {
  /** Version of whisper.cpp. */
  readonly version: string;
  devices(): WhisperDevice[];
  /** GPU backends that this machine can't use, for want of a driver or a device. */
  readonly unusable: readonly UnusableBackend[];
  /** File name of the CPU variant in use, such as libggml-cpu-zen4.so. */
  cpuVariant(): string;
  /** In which form an encoder is the faster one on this processor. */
  encoderForm(): EncoderForm;
  /** Loads the weights; throws an Error that says what to do where the file is no model or memory is short. */
  openModel(path: string, options: OpenModelOptions): WhisperModel;
}

export interface UnusableBackend {
  /** File name, such as libggml-vulkan.so. */
  readonly library: string;
  readonly reason: string;
}

export interface OpenModelOptions {
  /** Use the first GPU there is; without one the CPU computes. */
  useGpu: boolean;
  flashAttention: boolean;
  /** Align words with the audio; without it word times are coarse guesses. */
  wordTimes: boolean;
}

/** An encoder that ONNX Runtime computes. */
export interface EncoderOptions {
  /** ONNX Runtime's library. */
  library: string;
  /** The encoder's ONNX file, made of the same model. */
  path: string;
  threads: number;
}

/** Loaded weights, shared by any number of states. */
export interface WhisperModel {
  /** OpenAI's name for the size: base, small.en, large-v3, large-v3-turbo. */
  readonly type: string;
  readonly multilingual: boolean;
  /** Codes of the languages the model knows, as whisper writes them. */
  readonly languages: string[];
  /**
   * Takes the working memory of one transcription (about 200 MB for base).
   * @param encoder encodes in whisper.cpp's place
   */
  createState(encoder?: EncoderOptions): WhisperState;
  /** Frees the weights, once the model's states are disposed too. */
  dispose(): void;
}

/** The working memory of one transcription at a time. A second call before the first ended throws. */
export interface WhisperState {
  /** What the encoder makes of the first 30 s of 16 kHz mono samples: [position of 20 ms][width]. */
  encode(samples: Float32Array, threads: number): Promise<Float32Array>;
  /** Rates the languages of the first 30 s of 16 kHz mono samples. */
  detectLanguage(samples: Float32Array, threads: number): Promise<LanguageDetection>;
  /** Transcribes 16 kHz mono samples, -1 to 1. */
  transcribe(samples: Float32Array, options: TranscribeOptions): Promise<WhisperResult>;
  /** Makes the running call end within a few hundred milliseconds with `aborted: true`. */
  abort(): void;
  /** Aborts what runs and frees the memory. */
  dispose(): void;
}

export interface LanguageDetection {
  language: string;
  /** 0 to 1. */
  probability: number;
  /** Of every language the model knows, by code; they sum up to 1. */
  probabilities: Record<string, number>;
}

export interface TranscribeOptions {
  /** One of the model's languages. */
  language: string;
  threads: number;
  /** Hypotheses that are followed at once; 1: greedy. Default 5. */
  beamSize?: number;
  /** Step of the temperature when a result is doubted and decoded again; 0: never. Default 0.2. */
  temperatureIncrement?: number;
  /** Text that goes before: names and terms to expect. */
  initialPrompt?: string;
  /** Encoder positions of 20 ms each to look at; must cover the samples. Default: all 1500 of the 30 s window. */
  audioContext?: number;
  /** Leave out whisper's own timestamp tokens. Default false. */
  withoutTimestamps?: boolean;
  /** Never write symbols that aren't speech, such as musical notes. Default false. */
  suppressNonSpeech?: boolean;
}

export interface WhisperResult {
  language: string;
  /** The call was cut short by `abort`; there are no segments then. */
  aborted: boolean;
  segments: WhisperSegment[];
}

/** Text between two of whisper's timestamps; its times are those of its words. */
export interface WhisperSegment {
  startSeconds: number;
  endSeconds: number;
  text: string;
  /** 0 to 1, of the window that the segment was read from. */
  noSpeechProbability: number;
  /** Over the segment's text tokens; 0 is certain. */
  averageLogProbability: number;
  words: WhisperWord[];
}

export interface WhisperWord {
  /** As whisper wrote it, with the space before it and the punctuation after it. */
  text: string;
  startSeconds: number;
  endSeconds: number;
  /** 0 to 1, the mean of its tokens'. */
  probability: number;
}
