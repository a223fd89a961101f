import {
  LiveError,
  type LiveEvent,
  type LiveListener,
  type LiveOptions,
  type LiveRefusal,
  type LiveSegment,
  type LiveSender,
  type LiveSession,
  type LiveSessions,
  type ResumedSession,
} from "../../src/live/index.ts";

/** A call that a surface made on a session; sound by its bytes. */
export type LiveCall =
  | { readonly call: "update"; readonly options: Partial<LiveOptions> }
  | { readonly call: "write"; readonly sound: Uint8Array }
  | { readonly call: "commit" | "clear" | "end" | "detach" | "leave" }
  | { readonly call: "nameSpeaker"; readonly speaker: string; readonly name: string };

/** A session that does what a test says. */
export class ScriptedSession implements LiveSession {
  readonly id = Bun.randomUUIDv7();
  readonly calls: LiveCall[] = [];
  options: LiveOptions;
  /** Called at each call; a test may throw here. */
  onCall: (call: LiveCall) => void = () => {};
  listener: LiveListener;
  readonly #counts = new Map<string, number>();
  readonly #waiting: { readonly name: string; readonly times: number; readonly resolve: () => void }[] = [];

  constructor(
    readonly sender: LiveSender,
    options: LiveOptions,
    listener: LiveListener,
  ) {
    this.options = options;
    this.listener = listener;
  }

  /** Reports an event to the client. */
  emit(event: LiveEvent): void {
    this.listener(event);
  }

  /** Reports the end to the client. */
  finish(reason: Extract<LiveEvent, { type: "ended" }>["reason"] = "client", recordingId: string | null = null): void {
    this.emit({ type: "ended", reason, recordingId });
  }

  update(options: Partial<LiveOptions>): void {
    this.#record({ call: "update", options });
    this.options = { ...this.options, ...options };
  }

  write(sound: Uint8Array): void {
    this.#record({ call: "write", sound: new Uint8Array(sound) });
  }

  commit(): void {
    this.#record({ call: "commit" });
  }

  clear(): void {
    this.#record({ call: "clear" });
  }

  nameSpeaker(speaker: string, name: string): void {
    this.#record({ call: "nameSpeaker", speaker, name });
  }

  async end(): Promise<void> {
    this.#record({ call: "end" });
  }

  detach(): void {
    this.#record({ call: "detach" });
  }

  leave(): void {
    this.#record({ call: "leave" });
  }

  /** All sound so far. */
  get sound(): Buffer {
    return Buffer.concat(this.calls.flatMap((each) => (each.call === "write" ? [each.sound] : [])));
  }

  /** Waits until a call was made. */
  called(name: LiveCall["call"], times = 1): Promise<void> {
    if (this.#count(name) >= times) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ name, times, resolve });
    return promise;
  }

  #count(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  #record(call: LiveCall): void {
    this.onCall(call);
    this.calls.push(call);
    this.#counts.set(call.call, this.#count(call.call) + 1);
    for (const { name, times, resolve } of this.#waiting) if (this.#count(name) >= times) resolve();
  }
}

/** Live sessions without an engine: a test says what they report and refuse. */
export class ScriptedSessions implements LiveSessions {
  readonly opened: ScriptedSession[] = [];
  /** The number of places; by default there is always a free one. */
  places = Number.MAX_SAFE_INTEGER;
  /** What `open` and `resume` throw; null for nothing. */
  refusal: LiveRefusal | null = null;
  /** Called for each new session. */
  onOpen: (session: ScriptedSession) => void = () => {};
  /** What `resume` returns besides the session. */
  resumed: { readonly receivedSeconds: number; readonly segments: readonly LiveSegment[] } = {
    receivedSeconds: 0,
    segments: [],
  };
  /** The first segments that clients asked for. */
  readonly resumedFrom: number[] = [];

  /** The session that was opened last. */
  get last(): ScriptedSession {
    const session = this.opened.at(-1);
    if (session === undefined) throw new Error("no session was opened");
    return session;
  }

  open(sender: LiveSender, options: LiveOptions, listener: LiveListener): LiveSession {
    if (this.refusal !== null) throw new LiveError(this.refusal);
    const session = new ScriptedSession(sender, options, listener);
    this.opened.push(session);
    this.onOpen(session);
    return session;
  }

  resume(sender: LiveSender, id: string, fromSegment: number, listener: LiveListener): ResumedSession {
    if (this.refusal !== null) throw new LiveError(this.refusal);
    const session = this.opened.find((each) => each.id === id && each.sender.holder === sender.holder);
    if (session === undefined) throw new LiveError({ kind: "unknown_session" });
    session.listener = listener;
    this.resumedFrom.push(fromSegment);
    return { session, ...this.resumed };
  }

  requirePlace() {
    if (this.refusal !== null) throw new LiveError(this.refusal);
    if (this.opened.length >= this.places) {
      throw new LiveError(this.places === 0 ? { kind: "off" } : { kind: "full", sessions: this.places });
    }
  }

  status() {
    return { open: this.opened.length, places: this.places };
  }
}

/** A segment with one word for each word of a text, half a second each. */
export function liveSegment(number: number, text: string, speaker: string | null = null): LiveSegment {
  const words = text.split(" ").map((word, index) => ({
    text: ` ${word}`,
    startSeconds: number + index / 2,
    endSeconds: number + index / 2 + 0.4,
    probability: 0.5,
  }));
  const endSeconds = words.at(-1)?.endSeconds ?? number;
  return { number, startSeconds: number, endSeconds, text, words, speaker };
}
