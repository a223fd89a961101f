import { LiveError, type LiveEvent, type LiveListener, type LiveOptions, type LiveSession } from "../live/index.ts";
import { type Send, sendTranscript } from "./outgoing-events.ts";
import { errorOfEnd, notTranscribed } from "./refusals.ts";
import { SoundConverter, type SoundFormat } from "./sound.ts";
import type { TranscribeRequest } from "./transcribe-request.ts";
import { WyomingError } from "./wyoming-error.ts";

export interface UtteranceOptions {
  readonly request: TranscribeRequest;
  readonly format: SoundFormat;
  /** Opens the session. @throws {LiveError} @throws {IntakeError} */
  readonly open: (options: LiveOptions, listener: LiveListener) => LiveSession;
  readonly send: Send;
  /** Called once and last, if there will be no transcript: the session ended by itself, or a turn failed. */
  readonly onError: (error: WyomingError) => void;
}

/**
 * Rules for turns. They decide when text becomes final, and not where the utterance ends: the client decides that. Home
 * Assistant ends it after 0.7 s of silence, so the last turn is over before. With 1.5 s, the transcript followed
 * `audio-stop` after 0.6 s instead of 0.1 s (medians of ten recordings of 2 to 11 s, whisper-base on two busy cores of a
 * Xeon), and 58 instead of 60 of 707 words were wrong.
 */
const TURNS = { threshold: 0.5, paddingSeconds: 0.3, silenceSeconds: 0.5 } as const;
/** Sound that is written at once, so that a session takes what it has place for. */
const WRITE_BYTES = 32 * 1024;
const SAMPLE_BYTES = 2;

/** The sound from `audio-start` to `audio-stop`, and its transcript: one live session, of which nothing is kept. */
export class Utterance {
  readonly #options: UtteranceOptions;
  readonly #converter: SoundConverter;
  readonly #session: LiveSession;
  readonly #over = Promise.withResolvers<void>();
  /** Seconds of the turns in each language. */
  readonly #languages = new Map<string, number>();
  #text = "";
  #hasBegun = false;
  #state: "open" | "ending" | "over" = "open";

  /** @throws {LiveError} @throws {IntakeError} when no session can be opened */
  constructor(options: UtteranceOptions) {
    const { request, format, open } = options;
    this.#options = options;
    this.#converter = new SoundConverter(format);
    const session: LiveOptions = {
      format: { encoding: "pcm16", sampleRate: format.rate },
      language: request.language,
      prompt: request.prompt,
      turns: TURNS,
      keep: false,
      name: null,
    };
    this.#session = open(session, (event) => this.#receive(event));
  }

  get format(): SoundFormat {
    return this.#options.format;
  }

  /**
   * Passes sound on to the session.
   * @param pause waits a moment, while more sound waits in the session than it may
   * @returns the duration of the sound in seconds
   */
  async write(bytes: Uint8Array, pause: () => Promise<void>): Promise<number> {
    let written = 0;
    for (let at = 0; at < bytes.length; at += WRITE_BYTES) {
      const sound = this.#converter.convert(bytes.subarray(at, at + WRITE_BYTES));
      written += sound.length;
      while (this.#state === "open" && sound.length > 0 && !this.#take(sound)) await pause();
    }
    return written / SAMPLE_BYTES / this.format.rate;
  }

  /** Ends the sound, and sends the transcript. Returns when that is done, or when there will be none. */
  async finish(): Promise<void> {
    if (this.#state === "open") {
      this.#state = "ending";
      await this.#session.end();
    }
    await this.#over.promise;
  }

  /** Ends the session without a transcript. */
  abandon(): void {
    if (!this.#end()) return;
    // The sound that has no words yet needs none.
    this.#call(() => this.#session.clear());
    void this.#session.end();
  }

  /** @returns false if too much sound waits in the session */
  #take(sound: Uint8Array): boolean {
    return this.#call(() => this.#session.write(sound)) !== "too_fast";
  }

  /** Calls the session. A session that is ending, also by itself, refuses calls; the event `ended` follows. */
  #call(call: () => void): "done" | "too_fast" | "ending" {
    try {
      call();
      return "done";
    } catch (error) {
      const kind = error instanceof LiveError ? error.refusal.kind : null;
      if (kind === "too_fast") return "too_fast";
      if (kind === "unknown_session") return "ending";
      throw error;
    }
  }

  #receive(event: LiveEvent): void {
    if (this.#state === "over") return;
    switch (event.type) {
      case "final": {
        const { text, words } = event.segment;
        const isSpaced = words[0]?.text.startsWith(" ") ?? true;
        this.#append(text.trim(), isSpaced ? " " : "");
        return;
      }
      case "turnCompleted": {
        const { language, seconds } = event;
        if (language !== null) this.#languages.set(language, (this.#languages.get(language) ?? 0) + seconds);
        return;
      }
      case "turnFailed":
        this.abandon();
        this.#options.onError(notTranscribed());
        return;
      case "unconfirmed":
        // Only the transcript acknowledges something, and a voice assistant does not wait for a standby.
        if (this.#state !== "ending" || !this.#end()) return;
        this.#options.onError(new WyomingError("unavailable", event.reason));
        return;
      case "ended":
        this.#end();
        if (event.reason === "client") this.#complete();
        else this.#options.onError(errorOfEnd(event.reason));
        return;
    }
  }

  /** Sends final text. Joined, the texts of all chunks are the transcript. */
  #append(text: string, space: string): void {
    if (text === "") return;
    this.#begin();
    const chunk = this.#text === "" ? text : `${space}${text}`;
    this.#text += chunk;
    this.#options.send("transcript-chunk", { text: chunk });
  }

  #begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    const { language } = this.#options.request;
    this.#options.send("transcript-start", language === null ? {} : { language });
  }

  #complete(): void {
    const { send, request } = this.#options;
    this.#begin();
    const [spoken] = [...this.#languages].sort(([, one], [, other]) => other - one);
    sendTranscript(send, this.#text, request.language ?? spoken?.[0] ?? null, request);
  }

  /** @returns false if it was over already */
  #end(): boolean {
    if (this.#state === "over") return false;
    this.#state = "over";
    this.#over.resolve();
    return true;
  }
}
