import type { LiveMessage } from "../../contract/index.ts";
import type { Capture, CaptureListener } from "./capture.ts";
import { type ClientSocket, type Clock, type Closing, type Link, LiveConnection } from "./live-connection.ts";
import { type LiveText, noText, withMessage, withName } from "./live-text.ts";

export type Ended = Extract<LiveMessage, { type: "ended" }>;

/** The state of a live session, as the page shows it. Each change makes a new object. */
export interface LiveState {
  readonly phase: "running" | "ending" | "ended";
  readonly link: Link;
  readonly isPaused: boolean;
  /** Seconds of sound so far. */
  readonly seconds: number;
  /** Whether sound waits for the connection although there is one. */
  readonly isBehind: boolean;
  /** Whether the source gives only zeros, as a microphone does that is switched off. */
  readonly isMute: boolean;
  readonly text: LiveText;
  /** Id of the session; null before the server has opened it. */
  readonly id: string | null;
  readonly keep: boolean;
  /** Message of the last call that the server refused; null for none. */
  readonly notice: string | null;
  /** How the session has ended: the server's last message, or why the connection is over without one. */
  readonly ended: Ended | Exclude<Closing, { kind: "ended" }> | null;
}

/** Sound of the user's computer; see Capture. */
export type Source = Pick<Capture, "sampleRate" | "pause" | "resume" | "wake" | "stop">;

export interface LiveSessionOptions {
  readonly source: Source;
  readonly keep: boolean;
  /** The session that the page continues after it was loaded again; null for a new one. */
  readonly stored: { readonly id: string; readonly names: LiveText["names"] } | null;
  /** Opens a WebSocket. @param nextSegment number of the first final segment that the page lacks */
  readonly open: (resume: string | null, nextSegment: number) => ClientSocket;
  readonly isSignedIn: () => Promise<boolean | null>;
  readonly onState: (state: LiveState) => void;
  readonly clock: Clock;
}

/** Sound that waits at most while the connection is quick enough. */
const BEHIND_SECONDS = 3;
/** Number of frames of zeros after which a source counts as mute: five seconds. */
const MUTE_FRAMES = 50;

/** A live session of this page: its sound, its connection and its words. */
export class LiveSession implements CaptureListener {
  readonly #options: LiveSessionOptions;
  readonly #connection: LiveConnection;
  #state: LiveState;
  #zeros = 0;
  #isLost = false;
  /** Receives the level of the sound, 0 to 1, ten times a second. */
  onLevel: (level: number) => void = () => {};

  constructor(options: LiveSessionOptions) {
    const { source, keep, stored, open, isSignedIn, clock } = options;
    this.#options = options;
    this.#state = {
      ...{ phase: "running", link: "connecting", isPaused: false, seconds: 0, isBehind: false, isMute: false },
      ...{ text: { ...noText, names: stored?.names ?? {} }, id: stored?.id ?? null, keep, notice: null, ended: null },
    };
    this.#connection = new LiveConnection({
      sampleRate: source.sampleRate,
      open: (resume) => open(resume, this.#state.text.next),
      resume: stored?.id ?? null,
      onMessage: (message) => this.#receive(message),
      onLink: (link) => this.#set({ link }),
      onClosed: (closing) => this.#closed(closing),
      isSignedIn,
      clock,
    });
  }

  get state(): LiveState {
    return this.#state;
  }

  /** Samples per second of the sound. */
  get sampleRate(): number {
    return this.#options.source.sampleRate;
  }

  frame(frame: Int16Array<ArrayBuffer>, level: number): void {
    this.onLevel(level);
    this.#connection.add(frame);
    this.#zeros = level === 0 ? this.#zeros + 1 : 0;
    this.#update();
  }

  lost(): void {
    this.#isLost = true;
    this.pause();
  }

  /** Whether the source is gone, so that `resume` needs a new one. */
  get isSourceLost(): boolean {
    return this.#isLost;
  }

  pause(): void {
    this.#options.source.pause();
    this.onLevel(0);
    this.#zeros = 0;
    this.#set({ isPaused: true, isMute: false });
  }

  /** @throws {CaptureError} */
  async resume(): Promise<void> {
    await this.#options.source.resume();
    this.#isLost = false;
    this.#set({ isPaused: false });
  }

  /** Ends the session: the words of all sound so far still come. */
  end(): void {
    this.#options.source.stop();
    this.onLevel(0);
    this.#set({ phase: "ending", isMute: false });
    this.#connection.end();
  }

  /** Names a speaker, also in the recording. */
  name(speaker: string, name: string): void {
    this.#set({ text: withName(this.#state.text, speaker, name) });
    this.#connection.send({ type: "speaker", speaker, name });
  }

  /** Tells the session that the browser is online or offline. */
  setOnline(isOnline: boolean): void {
    if (isOnline) this.#connection.retryNow();
    else this.#connection.drop();
  }

  /** Continues with the sound after the user returns to the page. */
  wake(): void {
    if (this.#state.phase === "running") this.#options.source.wake();
  }

  /** Ends the session and does not wait for its last words, because the person has signed out. */
  close(): void {
    this.#options.source.stop();
    this.#connection.send({ type: "end" });
    this.#connection.close();
  }

  #receive(message: LiveMessage): void {
    const text = withMessage(this.#state.text, message);
    switch (message.type) {
      case "session":
        this.#set({ text, id: message.id, keep: message.keep });
        // Names that were given while there was no connection.
        for (const [speaker, name] of Object.entries(text.names)) {
          this.#connection.send({ type: "speaker", speaker, name });
        }
        break;
      case "error":
        this.#set({ text, notice: message.message });
        break;
      case "ended":
        this.#set({ text, ...(message.reason === "stopping" ? {} : { ended: message }) });
        break;
      default:
        if (text !== this.#state.text) this.#set({ text });
    }
  }

  #closed(closing: Closing): void {
    this.#options.source.stop();
    this.onLevel(0);
    const ended = closing.kind === "ended" ? this.#state.ended : closing;
    this.#set({ phase: "ended", isBehind: false, isMute: false, ended });
  }

  /** Shows the seconds, and whether sound waits or is missing. Not more often than these change. */
  #update(): void {
    const { waitingSeconds } = this.#connection;
    const seconds = Math.floor(this.#connection.seconds);
    const isBehind = this.#state.link === "connected" && waitingSeconds > BEHIND_SECONDS;
    const isMute = this.#zeros >= MUTE_FRAMES;
    const before = this.#state;
    if (seconds === before.seconds && isBehind === before.isBehind && isMute === before.isMute) return;
    this.#set({ seconds, isBehind, isMute });
  }

  #set(part: Partial<LiveState>): void {
    this.#state = { ...this.#state, ...part };
    this.#options.onState(this.#state);
  }
}
