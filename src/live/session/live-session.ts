import { isDeepStrictEqual } from "node:util";
import { MachineError } from "../../disk/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import { SAMPLE_RATE } from "../../timeline/index.ts";
import {
  type LiveEnd,
  LiveError,
  type LiveEvent,
  type LiveListener,
  type LiveOptions,
  type LiveSegment,
  type LiveSession,
} from "../contract.ts";
import type { SessionSound } from "./session-sound.ts";
import { SessionText } from "./session-text.ts";
import { SessionWork, type SessionWorkOptions } from "./session-work.ts";
import { withName } from "./speaker-names.ts";

/** Sound that may wait for its words: somewhat more than OpenAI's clients may send in one message. */
const MAX_AHEAD_SECONDS = 600;
/** Time without sound after which the open turn ends, as by silence. */
const SOUNDLESS_MILLISECONDS = 3000;

/** What happens to the words of the sound so far when a session ends. */
const FINISHES_WORDS: Readonly<Record<LiveEnd, boolean>> = {
  client: true,
  disconnected: true,
  idle: true,
  too_long: true,
  audio_used_up: true,
  disk_full: true,
  access: false,
  engine: false,
  stopping: false,
};

export interface OpenSessionOptions
  extends Pick<SessionWorkOptions, "engine" | "models" | "directory" | "path" | "earlier" | "newId" | "clock"> {
  readonly id: string;
  readonly options: LiveOptions;
  readonly sound: SessionSound;
  /** Null for a session that is not kept. */
  readonly rows: ConstructorParameters<typeof SessionText>[0]["rows"];
  readonly nextNumber: number;
  readonly respell: ConstructorParameters<typeof SessionText>[0]["respell"];
  /** Names of speakers, by their labels. */
  readonly names: ReadonlyMap<string, string>;
  /** Returns names and terms to expect, with the account's. */
  readonly vocabulary: (prompt: string | null) => string;
  /** Checks changed options. @throws {LiveError} `bad_option` */
  readonly check: (options: LiveOptions) => LiveOptions;
  /** Returns the maximum duration of a session in seconds. */
  readonly maxSeconds: () => number;
  /** Stores changed options, names and the position before which all words are final. */
  readonly onChange: (change: {
    readonly options?: LiveOptions;
    readonly names?: ReadonlyMap<string, string>;
    readonly settledSamples?: number;
  }) => void;
  /** Called with the seconds of sound that has arrived. */
  readonly onSound: (seconds: number) => void;
  readonly onPass: (seconds: number) => void;
  /** Called when the end begins. */
  readonly onEnding: (reason: LiveEnd) => void;
  /** Makes a recording of the session, and waits until its end may be reported. @returns the end to report */
  readonly onEnded: (reason: LiveEnd) => Promise<ReportedEnd>;
  readonly log: Logger;
}

/** The end of a session as its client learns of it. */
export type ReportedEnd = Omit<Extract<LiveEvent, { readonly type: "ended" }>, "type">;

/** A session with its client, or without one for as long as it may come back. */
export class OpenSession implements LiveSession {
  readonly id: string;
  readonly #options: OpenSessionOptions;
  readonly #work: SessionWork;
  readonly #text: SessionText;
  #current: LiveOptions;
  #names: ReadonlyMap<string, string>;
  #listener: LiveListener | null = null;
  /** When the client left; null while there is one. */
  #detachedAt: number | null;
  /** When sound arrived last. */
  #soundAt: number;
  /** The end in progress, or over; null while the session is open. */
  #end: Promise<void> | null = null;

  constructor(options: OpenSessionOptions) {
    this.id = options.id;
    this.#options = options;
    this.#current = options.options;
    this.#names = options.names;
    this.#detachedAt = options.clock();
    this.#soundAt = options.clock();
    const emit = (event: LiveEvent) => this.#emit(event);
    this.#text = new SessionText({ ...options, emit });
    this.#work = new SessionWork({
      ...options,
      text: this.#text,
      rules: this.#current.turns,
      language: this.#current.language,
      vocabulary: () => options.vocabulary(this.#current.prompt),
      emit,
      onSettled: () => this.settle(),
      onFailure: (operation, err) =>
        options.log.warn({ event: "live.operation_failed", sessionId: this.id, operation, err }),
      onBroken: () => void this.finish("engine"),
    });
  }

  get options(): LiveOptions {
    return this.#current;
  }

  /** Whether the session is open and has a client. */
  get isInUse(): boolean {
    return this.#detachedAt === null;
  }

  get hasEnded(): boolean {
    return this.#end !== null;
  }

  get sampleCount(): number {
    return this.#options.sound.sampleCount;
  }

  get receivedSeconds(): number {
    return this.sampleCount / SAMPLE_RATE;
  }

  /** Gives the session a client. */
  attach(listener: LiveListener): void {
    this.#listener = listener;
    this.#detachedAt = null;
    this.#soundAt = this.#options.clock();
  }

  /** Returns the segments from a number on. */
  segmentsFrom(number: number): LiveSegment[] {
    return this.#text.from(number);
  }

  update(options: Partial<Omit<LiveOptions, "keep">>): void {
    this.#requireOpen();
    const changed = this.#options.check({ ...this.#current, ...options });
    const hasFormat = isDeepStrictEqual(changed.format, this.#current.format);
    if (!hasFormat && !this.#options.sound.setFormat(changed.format)) {
      throw new LiveError({ kind: "bad_option", option: "format", reason: "it cannot change after the first sound" });
    }
    this.#current = changed;
    this.#work.change(this.#current.turns, this.#current.language);
    this.#options.onChange({ options: this.#current });
  }

  write(bytes: Uint8Array): void {
    this.#requireOpen();
    const { sound, clock, onSound, maxSeconds } = this.#options;
    const seconds = sound.secondsOf(bytes);
    if (this.#work.aheadSeconds + seconds > MAX_AHEAD_SECONDS) throw new LiveError({ kind: "too_fast" });
    this.#soundAt = clock();
    const room = Math.max(0, maxSeconds() - this.receivedSeconds);
    const isTooLong = seconds >= room;
    this.#storing(() =>
      sound.write(isTooLong ? bytes.subarray(0, Math.floor((bytes.length * room) / seconds)) : bytes),
    );
    onSound(Math.min(seconds, room));
    this.#work.wake();
    if (isTooLong) void this.finish("too_long");
  }

  commit(): void {
    this.#requireOpen();
    this.#work.commit();
  }

  clear(): void {
    this.#requireOpen();
    this.#work.clear();
  }

  nameSpeaker(speaker: string, name: string): void {
    this.#requireOpen();
    this.#names = withName(this.#names, speaker, name);
    this.#options.onChange({ names: this.#names });
  }

  end(): Promise<void> {
    return this.finish("client");
  }

  detach(): void {
    if (this.#end !== null) return;
    this.#listener = null;
    this.#detachedAt = this.#options.clock();
    this.#storing(() => this.#options.sound.flush());
    this.#work.wake();
  }

  leave(): void {
    // The words of an end in progress would reach nobody.
    if (this.#end !== null && !this.#current.keep) void this.#work.stop();
    this.#listener = null;
    void this.finish("disconnected");
  }

  /** Tells the client that its session is not confirmed by the standby, which is away. */
  reportUnconfirmed(reason: string): void {
    this.#emit({ type: "unconfirmed", reason });
  }

  /** Returns why the session ends because of the time that has passed; null if it does not. */
  overdue(limits: { readonly idleMilliseconds: number; readonly absentMilliseconds: number }): LiveEnd | null {
    const now = this.#options.clock();
    if (this.#detachedAt !== null) return now - this.#detachedAt >= limits.absentMilliseconds ? "disconnected" : null;
    const soundless = now - this.#soundAt;
    if (soundless >= SOUNDLESS_MILLISECONDS && this.#work.awaitsSound && this.#current.turns !== null)
      this.#work.endSound();
    return soundless >= limits.idleMilliseconds ? "idle" : null;
  }

  /** Stores the position before which all words are final. */
  settle(): void {
    if (this.#end === null) this.#options.onChange({ settledSamples: this.#work.settledSample });
  }

  /** Ends the session. The last event is `ended`. */
  finish(reason: LiveEnd): Promise<void> {
    // The engine fails while the last words are recognized.
    if (this.#end !== null && reason === "engine") void this.#work.stop();
    this.#end ??= this.#finish(reason);
    return this.#end;
  }

  /** Gives up a session that could not be opened. */
  discard(): void {
    this.#end ??= this.#work.stop();
    void this.#options.sound.close();
  }

  /** Suspends the session because the server stops, also while it ends. The next server continues it. */
  async suspend(): Promise<void> {
    const isEnding = this.#end !== null;
    if (!isEnding) {
      this.settle();
      this.#end = this.#finish("stopping");
    }
    await this.#work.stop();
    await this.#end;
  }

  async #finish(reason: LiveEnd): Promise<void> {
    const { sound, onEnding, onEnded, log } = this.#options;
    // The caller may be in the middle of a write.
    await Promise.resolve();
    let end: ReportedEnd = { reason, recordingId: null };
    try {
      onEnding(reason);
      if (reason !== "disk_full") this.#flush();
      const isRead = reason !== "disconnected" || this.#current.keep;
      if (FINISHES_WORDS[reason] && isRead) await this.#work.end();
      await this.#work.stop();
      await sound.close();
      end = await onEnded(reason);
    } catch (err) {
      log.error({ event: "live.end_failed", sessionId: this.id, err });
    }
    this.#emit({ type: "ended", ...end });
    this.#listener = null;
  }

  #flush(): void {
    try {
      this.#options.sound.flush();
    } catch (error) {
      if (!(error instanceof MachineError)) throw error;
    }
  }

  #requireOpen(): void {
    if (this.#end !== null) throw new LiveError({ kind: "unknown_session" });
  }

  /** Stores sound. A full disk ends the session; the sound before it is kept. */
  #storing(store: () => void): void {
    try {
      store();
    } catch (error) {
      if (!(error instanceof MachineError)) throw error;
      void this.finish("disk_full");
    }
  }

  #emit(event: LiveEvent): void {
    try {
      this.#listener?.(event);
    } catch (err) {
      this.#options.log.error({ event: "live.listener_failed", sessionId: this.id, err });
    }
  }
}
