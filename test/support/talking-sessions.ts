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

/** Live sessions that lose and find their clients like the real ones. A test says their words. */
export class TalkingSessions implements LiveSessions {
  readonly all: TalkingSession[] = [];
  /** The refusal of new sessions; null: they are opened. */
  refusal: LiveRefusal | null = null;
  /** Called with each new session. */
  onOpened: (session: TalkingSession) => void = () => {};

  /** The newest session. */
  get last(): TalkingSession {
    const last = this.all.at(-1);
    if (last === undefined) throw new Error("no session was opened");
    return last;
  }

  open(sender: LiveSender, options: LiveOptions, listener: LiveListener): LiveSession {
    if (this.refusal !== null) throw new LiveError(this.refusal);
    const session = new TalkingSession(sender, options, listener);
    this.all.push(session);
    this.onOpened(session);
    return session;
  }

  resume({ holder }: LiveSender, id: string, fromSegment: number, listener: LiveListener): ResumedSession {
    const session = this.all.find((each) => each.id === id);
    if (session === undefined || session.isOver || session.sender.holder !== holder) {
      throw new LiveError({ kind: "unknown_session" });
    }
    const { receivedSeconds, segments } = session;
    session.attach(listener);
    return { session, receivedSeconds, segments: segments.filter(({ number }) => number >= fromSegment) };
  }

  requirePlace() {
    if (this.refusal !== null) throw new LiveError(this.refusal);
  }

  status() {
    return { open: this.all.filter(({ isOver }) => !isOver).length, places: 4 };
  }
}

/** A live session without an engine. */
export class TalkingSession implements LiveSession {
  readonly id = Bun.randomUUIDv7();
  readonly sender: LiveSender;
  options: LiveOptions;
  readonly segments: LiveSegment[] = [];
  /** Names by the labels of speakers. */
  readonly names: Record<string, string> = {};
  /** Bytes of sound so far. */
  receivedBytes = 0;
  /** The largest sample so far; sound of 16 bits. */
  peak = 0;
  isOver = false;
  /** Id of the recording that the session becomes. */
  recordingId: string | null = null;
  #listener: LiveListener | null;
  #turn = 0;

  constructor(sender: LiveSender, options: LiveOptions, listener: LiveListener) {
    this.sender = sender;
    this.options = options;
    this.#listener = listener;
  }

  get isAttached(): boolean {
    return this.#listener !== null;
  }

  get receivedSeconds(): number {
    return this.receivedBytes / 2 / this.options.format.sampleRate;
  }

  /** @throws {LiveError} `in_use` */
  attach(listener: LiveListener): void {
    if (this.#listener !== null) throw new LiveError({ kind: "in_use" });
    this.#listener = listener;
  }

  /** Sends an event to the client, if there is one. */
  report(event: LiveEvent): void {
    this.#listener?.(event);
  }

  /** Lets somebody begin a turn. @returns its id */
  begin(): string {
    const turn = `turn-${++this.#turn}`;
    this.report({ type: "speechStarted", turn, seconds: this.receivedSeconds });
    return turn;
  }

  /** Reports words that may change. */
  guess(turn: string, text: string): void {
    this.report({ type: "partial", turn, text, words: [] });
  }

  /** Reports a segment of two seconds that does not change. */
  settle(turn: string, text: string, speaker: string | null = null): void {
    const number = this.segments.length;
    const segment = { number, startSeconds: number * 2, endSeconds: number * 2 + 1.8, text, words: [], speaker };
    this.segments.push(segment);
    this.report({ type: "final", turn, segment });
  }

  /** Recognizes the speaker of segments. */
  recognize(speaker: string, ...numbers: readonly number[]): void {
    for (const number of numbers) {
      const segment = this.segments[number];
      if (segment !== undefined) this.segments[number] = { ...segment, speaker };
    }
    this.report({ type: "speakers", speakers: numbers.map((segment) => ({ segment, speaker })) });
  }

  complete(turn: string): void {
    this.report({ type: "turnCompleted", turn, text: "", seconds: 2, language: "en" });
  }

  /** Reports a whole turn of one segment. */
  say(text: string, speaker: string | null = null): void {
    const turn = this.begin();
    this.settle(turn, text, speaker);
    this.complete(turn);
  }

  update(options: Partial<LiveOptions>): void {
    this.options = { ...this.options, ...options };
  }

  write(sound: Uint8Array): void {
    this.receivedBytes += sound.length;
    const samples = new DataView(sound.buffer, sound.byteOffset, sound.byteLength);
    for (let at = 0; at + 1 < sound.length; at += 2) {
      this.peak = Math.max(this.peak, Math.abs(samples.getInt16(at, true)));
    }
  }

  commit(): void {}
  clear(): void {}

  nameSpeaker(speaker: string, name: string): void {
    this.names[speaker] = name;
  }

  async end(): Promise<void> {
    if (this.isOver) return;
    this.isOver = true;
    this.report({ type: "ended", reason: "client", recordingId: this.recordingId });
  }

  leave(): void {
    this.isOver = true;
    this.#listener = null;
  }

  detach(): void {
    this.#listener = null;
  }
}
