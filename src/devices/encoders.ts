import { statSync } from "node:fs";
import type { ProgramFiles } from "../program/index.ts";
import { noteEncoderUse } from "../speech/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { messageOf } from "../text/index.ts";
import { type EncoderTestOptions, storedEncoder, testEncoder } from "./encoder-self-test.ts";

export interface EncodersOptions {
  readonly files: Pick<ProgramFiles, "nativeDirectory" | "onnxBinding">;
  /** Path of the stored self-test results; encoders are in a directory next to it. */
  readonly verdictsPath: string;
  /** Returns the reason why a file of this size does not fit on the disk; null when it fits. */
  readonly lackOfSpace: (bytes: number) => string | null;
  readonly log: Logger;
  /** Returns milliseconds since any fixed moment. */
  readonly now?: () => number;
  /** Functions that look up and self-test encoders; the real ones by default. */
  readonly operations?: {
    readonly stored: typeof storedEncoder;
    readonly test: typeof testEncoder;
    readonly noteUse: typeof noteEncoderUse;
  };
}

/** The CPU variant and the path of the speech model that an encoder is used with. */
export interface EncoderUse {
  readonly cpuLibrary: string;
  readonly speechModel: string;
}

/**
 * Seconds of speech in one recording that justify the self-test of an unknown encoder. For base, the self-test takes
 * five seconds, which the encoder saves in five windows. With larger models, both grow in proportion.
 */
const SPEECH_WORTH_TEST = 180;
/** Total seconds of speech in shorter recordings that also justify a self-test. */
const TOTAL_SPEECH_WORTH_TEST = 3600;
/**
 * Maximum size of an encoder relative to its model's file, whose weights of 16 bits may have 32 bits in the encoder.
 */
const SHARE_OF_MODEL = 2;

/** Validity of the cached result that the model's own encoder is better. */
const OWN_HOLDS_MILLISECONDS = 86_400_000;

/** The ONNX forms of speech models' encoders: creates, self-tests and finds them. */
export class Encoders {
  readonly #options: EncodersOptions;
  readonly #operations: NonNullable<EncodersOptions["operations"]>;
  readonly #closed = new AbortController();
  /** Self-test result for each use, possibly still pending; undefined if there is none. */
  readonly #found = new Map<string, Promise<string | null | undefined>>();
  /** Time of the result that the model's own encoder is better, in milliseconds, by use. */
  readonly #ownSince = new Map<string, number>();
  #untestedSeconds = 0;
  #hasFailed = false;

  constructor(options: EncodersOptions) {
    this.#options = options;
    this.#operations = options.operations ?? { stored: storedEncoder, test: testEncoder, noteUse: noteEncoderUse };
  }

  /**
   * Returns the path of a model's encoder, or null if the model's own is better here. Without a result, runs the
   * self-test once enough speech justifies it. A self-test that failed to run is not repeated before another hour of
   * speech.
   */
  async find(use: EncoderUse, spokenSeconds: number): Promise<string | null> {
    const key = keyOf(use);
    const { lookup, known } = await this.#lookUp(use, key);
    if (known !== undefined) return known;
    this.#untestedSeconds += spokenSeconds;
    const worth = this.#hasFailed ? TOTAL_SPEECH_WORTH_TEST : SPEECH_WORTH_TEST;
    if (spokenSeconds < worth && this.#untestedSeconds < TOTAL_SPEECH_WORTH_TEST) return null;
    // Another recording may have started the self-test already.
    const before = this.#found.get(key);
    const test = before === lookup || before === undefined ? this.#test(use) : before;
    this.#found.set(key, test);
    return (await test) ?? null;
  }

  /** Returns the result of `find` where it does not depend on the amount of speech; else undefined. */
  async known(use: EncoderUse): Promise<string | null | undefined> {
    return (await this.#lookUp(use, keyOf(use))).known;
  }

  async #lookUp(use: EncoderUse, key: string) {
    this.#expireOwn(key);
    const lookup = this.#found.get(key) ?? this.#stored(use);
    this.#found.set(key, lookup);
    const known = await lookup;
    if (known === null && !this.#ownSince.has(key)) this.#ownSince.set(key, this.#now());
    if (typeof known === "string") await this.#operations.noteUse(known);
    return { lookup, known };
  }

  /** Aborts a running self-test; no other starts. */
  close(): void {
    this.#closed.abort();
  }

  /** Discards the result that the model's own encoder is better after a day, so that it is looked up again. */
  #expireOwn(key: string): void {
    const since = this.#ownSince.get(key);
    if (since === undefined || this.#now() - since < OWN_HOLDS_MILLISECONDS) return;
    this.#ownSince.delete(key);
    this.#found.delete(key);
  }

  #now(): number {
    return (this.#options.now ?? performance.now.bind(performance))();
  }

  /** Looks up the stored result; an error counts as no result. */
  #stored(use: EncoderUse): Promise<string | null | undefined> {
    return this.#operations.stored(this.#testOf(use)).catch(() => undefined);
  }

  /** Runs the self-test. @returns undefined if it failed to run */
  async #test(use: EncoderUse): Promise<string | null | undefined> {
    const { log, lackOfSpace } = this.#options;
    this.#untestedSeconds = 0;
    try {
      const lack = lackOfSpace(statSync(use.speechModel).size * SHARE_OF_MODEL);
      if (lack !== null) throw new Error(lack);
      const { path, detail } = await this.#operations.test(this.#testOf(use));
      log.info({ event: "engine.encoder_tried", encoder: path === null ? "own" : "onnx", detail });
      return path;
    } catch (error) {
      this.#hasFailed = true;
      if (!this.#closed.signal.aborted) log.warn({ event: "engine.encoder_untried", detail: messageOf(error) });
      return undefined;
    }
  }

  #testOf(use: EncoderUse): EncoderTestOptions {
    const { files, verdictsPath } = this.#options;
    const { nativeDirectory, onnxBinding } = files;
    return { nativeDirectory, onnxBinding, ...use, verdictsPath, signal: this.#closed.signal };
  }
}

/** Returns the key of a use. It identifies the model's file, because another file needs a new self-test. */
function keyOf({ cpuLibrary, speechModel }: EncoderUse): string {
  const file = statSync(speechModel, { throwIfNoEntry: false });
  return JSON.stringify([cpuLibrary, speechModel, file?.size, file?.mtimeMs]);
}
