import {
  LiveError,
  type LiveListener,
  type LiveOptions,
  type LiveSender,
  type LiveSession,
} from "../../src/live/index.ts";
import { type LiveCall, ScriptedSession } from "../support/live.ts";

/** A session that says what a test lets it say, and ends like a real one. */
export class SpokenSession extends ScriptedSession {
  /** Number of bytes of sound that were written. */
  soundBytes = 0;
  /** Whether the session is ending, so that it takes no sound and no call any more. */
  isEnding = false;
  /** Called by `write` before it takes sound. A test may throw here. */
  onWrite: (sound: Uint8Array) => void = () => {};
  /** Called by `end`. By default the session ends at once. */
  onEnd: () => void = () => this.finish();
  #segments = 0;

  /** Names of the calls in their order, each repetition once. */
  get names(): LiveCall["call"][] {
    const names = this.calls.map(({ call }) => call);
    return names.filter((name, index) => name !== names[index - 1]);
  }

  /** Reports final words, as an engine writes them: with their leading spaces. */
  final(words: string): void {
    const segment = {
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

  override write(sound: Uint8Array): void {
    this.#requireOpen();
    this.onWrite(sound);
    this.soundBytes += sound.length;
    super.write(sound);
  }

  override clear(): void {
    super.clear();
    this.#requireOpen();
  }

  override async end(): Promise<void> {
    await super.end();
    this.isEnding = true;
    this.onEnd();
  }

  #requireOpen(): void {
    if (this.isEnding) throw new LiveError({ kind: "unknown_session" });
  }
}

/** Live sessions that a test scripts. */
export class SpokenSessions {
  readonly opened: SpokenSession[] = [];
  /** Called with each new session. A test may throw here, as a refusal. */
  onOpen: (session: SpokenSession) => void = () => {};
  readonly #waiting: (() => void)[] = [];

  open(sender: LiveSender, options: LiveOptions, listener: LiveListener): LiveSession {
    sender.requireAccess();
    const session = new SpokenSession(sender, options, listener);
    this.onOpen(session);
    this.opened.push(session);
    for (const resolve of this.#waiting.splice(0)) resolve();
    return session;
  }

  /** Waits for a session. @param index number of sessions before it */
  async session(index = 0): Promise<SpokenSession> {
    for (;;) {
      const session = this.opened[index];
      if (session !== undefined) return session;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }
}
