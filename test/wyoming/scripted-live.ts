import {
  LiveError,
  type LiveEvent,
  type LiveListener,
  type LiveOptions,
  type LiveSegment,
  type LiveSender,
  type LiveSession,
  type LiveSessions,
} from "../../src/live/index.ts";

/** A session whose events a test decides. */
export class ScriptedSession implements LiveSession {
  readonly id = Bun.randomUUIDv7();
  readonly options: LiveOptions;
  readonly sender: LiveSender;
  /** Number of bytes of sound that were written. */
  soundBytes = 0;
  readonly calls: string[] = [];
  /** Called by `write` before it takes sound. A test may throw here. */
  onWrite: (sound: Uint8Array) => void = () => {};
  /** Called by `end`. By default the session ends at once. */
  onEnd: () => void = () => this.emit({ type: "ended", reason: "client", recordingId: null });
  /** Whether the session is ending, so that it takes no sound and no call any more. */
  isEnding = false;
  readonly #sound: Uint8Array[] = [];
  readonly #listener: LiveListener;
  readonly #waiting: (() => void)[] = [];
  #segments = 0;

  constructor(sender: LiveSender, options: LiveOptions, listener: LiveListener) {
    this.sender = sender;
    this.options = options;
    this.#listener = listener;
  }

  /** All sound that was written. */
  get sound(): Buffer {
    return Buffer.concat(this.#sound);
  }

  emit(event: LiveEvent): void {
    this.#listener(event);
  }

  /** Emits final words, as an engine writes them: with their leading spaces. */
  final(words: string): void {
    const segment: LiveSegment = {
      number: this.#segments++,
      startSeconds: 0,
      endSeconds: 1,
      text: words.trim(),
      words: (words.match(/ ?[^ ]+/g) ?? []).map((text) => ({ text, startSeconds: 0, endSeconds: 1, probability: 1 })),
      speaker: null,
    };
    this.emit({ type: "final", turn: "turn", segment });
  }

  turnCompleted(language: string | null, seconds = 1): void {
    this.emit({ type: "turnCompleted", turn: "turn", text: "", seconds, language });
  }

  /** Waits until a condition is true, which is examined after each call of the session. */
  async until(isTrue: (session: this) => boolean): Promise<void> {
    while (!isTrue(this)) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  update(): void {
    this.#called("update");
  }

  write(sound: Uint8Array): void {
    this.#requireOpen();
    this.onWrite(sound);
    this.#sound.push(sound);
    this.soundBytes += sound.length;
    this.#called("write");
  }

  commit(): void {
    this.#called("commit");
  }

  clear(): void {
    this.#called("clear");
    this.#requireOpen();
  }

  nameSpeaker(): void {
    this.#called("nameSpeaker");
  }

  async end(): Promise<void> {
    this.#called("end");
    this.isEnding = true;
    this.onEnd();
  }

  detach(): void {
    this.#called("detach");
  }

  #requireOpen(): void {
    if (this.isEnding) throw new LiveError({ kind: "unknown_session" });
  }

  #called(name: string): void {
    if (this.calls.at(-1) !== name) this.calls.push(name);
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** Live sessions that a test scripts. */
export class ScriptedLive implements LiveSessions {
  readonly sessions: ScriptedSession[] = [];
  /** Called with each new session. A test may throw here, as a refusal. */
  onOpen: (session: ScriptedSession) => void = () => {};
  readonly #waiting: (() => void)[] = [];

  open(sender: LiveSender, options: LiveOptions, listener: LiveListener): LiveSession {
    sender.requireAccess();
    const session = new ScriptedSession(sender, options, listener);
    this.onOpen(session);
    this.sessions.push(session);
    for (const resolve of this.#waiting.splice(0)) resolve();
    return session;
  }

  /** Waits for a session. @param index number of sessions before it */
  async session(index = 0): Promise<ScriptedSession> {
    for (;;) {
      const session = this.sessions[index];
      if (session !== undefined) return session;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  resume(): never {
    throw new Error("Wyoming resumes no sessions");
  }

  status() {
    return { open: this.sessions.length, places: 8 };
  }
}
