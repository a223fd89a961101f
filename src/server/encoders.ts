import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { ownCommand, type ProgramFiles } from "../program/index.ts";
import { type EncoderChoiceOptions, knownEncoder, noteEncoderUse, tryEncoder } from "../speech/index.ts";
import type { DiskRoom } from "../storage/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { messageOf } from "../text/index.ts";

export interface EncodersOptions {
  readonly files: Pick<ProgramFiles, "nativeDirectory" | "onnxBinding">;
  /** Where the verdicts of the self-tests are kept; encoders lie in a directory beside it. */
  readonly verdictsPath: string;
  readonly room: Pick<DiskRoom, "lack">;
  readonly log: Logger;
  /** Milliseconds since any fixed moment. */
  readonly now?: () => number;
  /** What is known of encoders and how they are tried; the real ones by default. */
  readonly means?: {
    readonly known: typeof knownEncoder;
    readonly try: typeof tryEncoder;
    readonly noteUse: typeof noteEncoderUse;
  };
}

/** What is computed on: the CPU variant of whisper.cpp, and the whisper model's path. */
export interface EncoderUse {
  readonly cpuLibrary: string;
  readonly whisperModel: string;
}

/**
 * Making and trying an encoder of base takes all cores five seconds, which it has saved again after five windows. With larger
 * models both grow alike.
 */
const speechWorthTrial = 180;
/** So much speech in several recordings that are too short each is worth a trial, too. */
const speechWorthTrialTogether = 3600;
/** Nearly all weights of a distilled model are its encoder's; those of 16 bits in the model's file may be of 32 in the encoder's. */
const shareOfModel = 2;

/** For so long the verdict that the model's own encoder is the better one is taken for granted. */
const ownHoldsMilliseconds = 86_400_000;

/** Where ONNX forms of whisper models' encoders are kept, which belongs to a file of verdicts. */
export function encodersBeside(verdictsPath: string): string {
  return join(dirname(verdictsPath), "encoders");
}

/** The ONNX forms of whisper models' encoders: made, tried and found. */
export class Encoders {
  readonly #options: EncodersOptions;
  readonly #means: NonNullable<EncodersOptions["means"]>;
  readonly #closed = new AbortController();
  /** What is known of each use, or is being found out; undefined: nothing is known. */
  readonly #found = new Map<string, Promise<string | null | undefined>>();
  /** When it was found that the model's own encoder is the better one, in milliseconds, by use. */
  readonly #ownSince = new Map<string, number>();
  #untriedSeconds = 0;
  #hasFailed = false;

  constructor(options: EncodersOptions) {
    this.#options = options;
    this.#means = options.means ?? { known: knownEncoder, try: tryEncoder, noteUse: noteEncoderUse };
  }

  /**
   * The path of a model's encoder, null where the model's own is the better one here. An encoder of which nothing is known is
   * tried once there is enough speech to be worth it; a trial that fails is not repeated before another hour of speech.
   */
  async find(use: EncoderUse, spokenSeconds: number): Promise<string | null> {
    const key = keyOf(use);
    this.#forgetOwn(key);
    const looking = this.#found.get(key) ?? this.#known(use);
    this.#found.set(key, looking);
    const known = await looking;
    if (known === null && !this.#ownSince.has(key)) this.#ownSince.set(key, this.#now());
    if (typeof known === "string") await this.#means.noteUse(known);
    if (known !== undefined) return known;
    this.#untriedSeconds += spokenSeconds;
    const worth = this.#hasFailed ? speechWorthTrialTogether : speechWorthTrial;
    if (spokenSeconds < worth && this.#untriedSeconds < speechWorthTrialTogether) return null;
    // another recording may have come first
    const before = this.#found.get(key);
    const trial = before === looking || before === undefined ? this.#try(use) : before;
    this.#found.set(key, trial);
    return (await trial) ?? null;
  }

  /** Ends a trial; there is no other. */
  close(): void {
    this.#closed.abort();
  }

  /** Forgets after a day that the model's own is the better one, so that the verdict is looked up again. */
  #forgetOwn(key: string): void {
    const since = this.#ownSince.get(key);
    if (since === undefined || this.#now() - since < ownHoldsMilliseconds) return;
    this.#ownSince.delete(key);
    this.#found.delete(key);
  }

  #now(): number {
    return (this.#options.now ?? performance.now.bind(performance))();
  }

  /** Where it can't be told, it is as if nothing were known. */
  #known(use: EncoderUse): Promise<string | null | undefined> {
    return this.#means.known(this.#choiceOf(use)).catch(() => undefined);
  }

  /** @returns undefined where nothing was found out */
  async #try(use: EncoderUse): Promise<string | null | undefined> {
    const { log, room } = this.#options;
    this.#untriedSeconds = 0;
    try {
      const lack = room.lack(statSync(use.whisperModel).size * shareOfModel, "work");
      if (lack !== null) throw new Error(lack);
      const { path, detail } = await this.#means.try(this.#choiceOf(use));
      log.info({ event: "engine.encoder_tried", encoder: path === null ? "own" : "onnx", detail });
      return path;
    } catch (error) {
      this.#hasFailed = true;
      if (!this.#closed.signal.aborted) log.warn({ event: "engine.encoder_untried", detail: messageOf(error) });
      return undefined;
    }
  }

  #choiceOf(use: EncoderUse): EncoderChoiceOptions {
    const { files, verdictsPath } = this.#options;
    const { nativeDirectory, onnxBinding } = files;
    return {
      ...{ command: ownCommand("__selftest"), nativeDirectory, onnxBinding, ...use },
      ...{ verdictsPath, encoderDirectory: encodersBeside(verdictsPath), signal: this.#closed.signal },
    };
  }
}

/** Another file may come to lie in a model's place; what is known of the first one's encoder says nothing of it. */
function keyOf({ cpuLibrary, whisperModel }: EncoderUse): string {
  const file = statSync(whisperModel, { throwIfNoEntry: false });
  return JSON.stringify([cpuLibrary, whisperModel, file?.size, file?.mtimeMs]);
}
