import { type Static, Type } from "@sinclair/typebox";
import type { DecoderWork } from "../../operations/index.ts";
import type { GgmlRuntime, Instructions } from "../../runtimes/index.ts";
import type { EngineWord } from "../../timeline/index.ts";

/** A language with its ISO code and the code that the model uses. */
export interface Language {
  /** ISO 639-1, or 639-3 where 639-1 has none. */
  readonly code: string;
  /** English name. */
  readonly name: string;
  readonly modelCode: string;
}

/** Capabilities of a family's models. */
export interface Capabilities {
  /** Whether a model detects the spoken language. Otherwise another family's model has to. */
  readonly detectsLanguage: boolean;
  /** Maximum number of tokens of a vocabulary (names and terms to expect); 0: a model takes none. */
  readonly vocabularyTokens: number;
  /**
   * Whether a word's probability has the meaning that marks of uncertain words expect: Whisper's. Otherwise the words have
   * `isCalibrated: false`.
   */
  readonly hasCalibratedProbabilities: boolean;
}

/** Licence under which a family's models are published. */
export interface FamilyLicence {
  /** SPDX identifier. */
  readonly name: string;
  /** Names the author, as the licence requires. */
  readonly attribution: string;
}

/**
 * A family of speech recognition models: what is common to all files that one implementation loads. Nothing outside the
 * family's folder and the catalogue of models knows its name.
 */
export interface RecognizerFamily {
  readonly capabilities: Capabilities;
  /** Licence of its published models, if all have the same and require attribution; null otherwise. */
  readonly licence: FamilyLicence | null;
  /** Returns whether a file begins like a model of this family. @throws {Error} when it cannot be read */
  recognizesFile(path: string): boolean;
  /** Checks that native code can load a file, without reading weights. @throws {ModelFileError} that says what to do */
  validateFile(path: string): void;
  /** Returns the languages that a model knows, sorted by code, from its header. */
  readLanguages(path: string): Language[];
  /** Returns whether a model can translate speech to English, from its header. @throws {ModelFileError} */
  canTranslate(path: string): boolean;
  /** Returns the number of tokens of a vocabulary for a model; 0 when the family takes none. */
  countVocabularyTokens(path: string, vocabulary: string): number;
  /**
   * Loads a model.
   * @param slots number of its recognizers whose texts are decoded together; 1, the default: each decodes alone, as
   *   recognizers of other families always do
   * @throws {Error} with a hint for the user when the file is damaged or memory is short
   */
  open(runtime: GgmlRuntime, path: string, useGpu: boolean, slots?: number): RecognizerModel;
  /** Describes for people how the parts of a model compute on a CPU, without an ONNX form. @throws {ModelFileError} */
  describeKernels(path: string, instructions: Instructions): ModelKernels;
  /**
   * Builds the ONNX form of a model's encoder in a directory unless it exists, and compares it with the model's own
   * encoder on the CPU. Null when the family has no such form.
   */
  readonly compareEncoders: ((options: EncoderComparisonOptions) => Promise<EncoderComparison>) | null;
}

/** How the parts of a model compute, e.g. `8-bit kernels`. */
export interface ModelKernels {
  readonly encoder: string;
  readonly decoder: string;
}

/** An encoder that ONNX Runtime computes. */
export interface EncoderOptions {
  /** ONNX Runtime's library. */
  library: string;
  /** The encoder's ONNX file, built from the same model. */
  path: string;
  threads: number;
}

export interface EncoderComparisonOptions {
  readonly runtime: GgmlRuntime;
  readonly modelPath: string;
  /** ONNX Runtime's library. */
  readonly library: string;
  /** Directory in which encoders are stored. */
  readonly directory: string;
}

export const encoderComparisonSchema = Type.Union([
  Type.Object({ unsuitable: Type.String() }),
  Type.Object({
    /** Name of the ONNX form in the directory of encoders. */
    name: Type.String({ minLength: 1 }),
    /** How it computes, for people: `8-bit products`. */
    form: Type.String({ minLength: 1 }),
    /** Time per window with the ONNX form, and with the model's own encoder. */
    seconds: Type.Number({ exclusiveMinimum: 0 }),
    ownSeconds: Type.Number({ exclusiveMinimum: 0 }),
    /** Root-mean-square difference of their numbers, relative to their size. */
    error: Type.Number({ minimum: 0 }),
  }),
]);
/** Result of the comparison: why there is no ONNX form, or how it did. */
export type EncoderComparison = Static<typeof encoderComparisonSchema>;

/** Loaded weights, shared by any number of recognizers. */
export interface RecognizerModel {
  /** Creates a recognizer. @param encoder replaces the model's own encoder */
  createRecognizer(encoder?: EncoderOptions): Recognizer;
  /** Returns the work of the decoder in slots since the model was loaded; none where each recognizer decodes alone. */
  decoderWork(): DecoderWork;
  /** Frees the weights, once the model's recognizers are disposed too. */
  dispose(): void;
}

export interface ChunkOptions {
  /** Code of one of the model's languages. */
  readonly language: string;
  readonly threads: number;
  /** Names and terms to expect; empty: none. */
  readonly vocabulary: string;
  /** Whether parts of the chunk may be in another language. */
  readonly mayChangeLanguage: boolean;
  readonly signal: AbortSignal;
}

/** Words that were recognized at once. */
export interface RecognizedWords {
  readonly words: readonly EngineWord[];
  /** Set when these words are in another language than the chunk's. */
  readonly language?: string;
}

export type TranslationOptions = Pick<ChunkOptions, "language" | "threads" | "signal">;

export interface LiveOptions extends Pick<ChunkOptions, "language" | "threads" | "vocabulary" | "signal"> {
  /** The words with which the samples begin, with times from the start of the samples; empty if none are known. */
  readonly known: readonly EngineWord[];
}

/** Options of a single pass, as self-tests make it. */
export interface SinglePassOptions {
  readonly threads: number;
  /** Whether only as much of the model's window is computed as the samples fill. */
  readonly isShort: boolean;
}

/** Recognizes 16 kHz mono samples from -1 to 1. A second call during a running one throws. */
export interface Recognizer {
  /** Returns the probability of each language, by the model's codes; they sum up to 1. */
  detectLanguage(samples: Float32Array, threads: number): Promise<Record<string, number>>;
  /** Recognizes a chunk as well as the family can, with second passes where its result is doubtful. */
  transcribe(samples: Float32Array, options: ChunkOptions): Promise<readonly RecognizedWords[]>;
  /** Translates a chunk to English. @throws {Error} when the model cannot translate */
  translate(samples: Float32Array, options: TranslationOptions): Promise<readonly EngineWord[]>;
  /**
   * Recognizes at most 30 s of a live session in one fast pass, and returns the words after the known ones; times are from
   * the start of the samples. A recognizer for live sessions recognizes no recordings: data that a short pass leaves in it
   * would change their words.
   */
  transcribeLive(samples: Float32Array, options: LiveOptions): Promise<readonly EngineWord[]>;
  /** Recognizes English samples in a single fast pass. @throws {Error} when the numbers behind the text are not finite */
  transcribeOnce(samples: Float32Array, options: SinglePassOptions): Promise<string>;
  /** Ends the running call within a few hundred milliseconds. */
  abort(): void;
  /** Aborts the running call and frees the memory. */
  dispose(): void;
}
