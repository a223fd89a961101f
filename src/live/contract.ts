import type { Account } from "../accounts/index.ts";
import type { Sender } from "../intake/index.ts";
import type { EngineWord } from "../timeline/index.ts";

/** Sound as a client sends it: one channel. */
export interface LiveFormat {
  /** `pcm16` and `float32` are little-endian; `mulaw` and `alaw` are G.711. */
  readonly encoding: "pcm16" | "float32" | "mulaw" | "alaw";
  /** Samples per second, from 8,000 to 48,000. */
  readonly sampleRate: number;
}

/** How speech detection ends turns. */
export interface TurnRules {
  /** Probability from which sound counts as speech, 0 to 1. */
  readonly threshold: number;
  /** Sound before the detected start of a turn that belongs to it. */
  readonly paddingSeconds: number;
  /** Silence that ends a turn. */
  readonly silenceSeconds: number;
}

/** The choices of a client for a session. All but `keep` may change between turns; `format` before the first sound. */
export interface LiveOptions {
  readonly format: LiveFormat;
  /** Language that the client pinned, ISO 639; null for language detection. */
  readonly language: string | null;
  /** Names and terms to expect, in addition to the account's; null for none. */
  readonly prompt: string | null;
  /** Null: only `commit` ends a turn. */
  readonly turns: TurnRules | null;
  /** Whether the session becomes a recording when it ends. Otherwise nothing of it is kept. */
  readonly keep: boolean;
  /** Name of the recording that the session becomes; null for a name with the time. */
  readonly name: string | null;
}

/** Words that will not change any more. */
export interface LiveSegment {
  /** From 0, in the order of the session. */
  readonly number: number;
  /** Times from the start of the session. */
  readonly startSeconds: number;
  readonly endSeconds: number;
  readonly text: string;
  readonly words: readonly EngineWord[];
  /** Label of the speaker (`S1`); null while it is not known, see the event `speakers`. */
  readonly speaker: string | null;
}

/** What a session reports to its client. Times are from the start of the session. */
export type LiveEvent =
  | { readonly type: "speechStarted"; readonly turn: string; readonly seconds: number }
  | { readonly type: "speechStopped"; readonly turn: string; readonly seconds: number }
  /** The turn has no more sound. `previous`: the turn before it; null for the first. */
  | { readonly type: "committed"; readonly turn: string; readonly previous: string | null }
  /** The buffer of an uncommitted turn was dropped by `clear`. */
  | { readonly type: "cleared" }
  /** Words after the last final ones of the turn, which may still change; empty text withdraws them. */
  | {
      readonly type: "partial";
      readonly turn: string;
      readonly text: string;
      readonly words: readonly EngineWord[];
    }
  | { readonly type: "final"; readonly turn: string; readonly segment: LiveSegment }
  /** All words of the turn are final. */
  | {
      readonly type: "turnCompleted";
      readonly turn: string;
      readonly text: string;
      /** Duration of the turn's sound. */
      readonly seconds: number;
      /** ISO 639; null when nobody spoke. */
      readonly language: string | null;
    }
  | { readonly type: "turnFailed"; readonly turn: string }
  /** Speakers of earlier segments, by the segments' numbers. */
  | { readonly type: "speakers"; readonly speakers: readonly { readonly segment: number; readonly speaker: string }[] }
  /** The standby is away, with `standby.wait`: the session is recorded here, and its end waits until the standby has it. */
  | { readonly type: "unconfirmed"; readonly reason: string }
  /** The last event. `recordingId`: the recording that the session has become; null if it is not kept. */
  | { readonly type: "ended"; readonly reason: LiveEnd; readonly recordingId: string | null };

/** Why a session ended. */
export type LiveEnd =
  /** The client ended it. */
  | "client"
  /** The client was away for longer than it may resume. */
  | "disconnected"
  /** No sound arrived for longer than `live.idle_minutes`. */
  | "idle"
  /** The session reached the maximum duration of a recording. */
  | "too_long"
  /** The account used up its audio minutes of the day. */
  | "audio_used_up"
  /** The key was revoked, or the account may no longer use the server. */
  | "access"
  /** The disk is full. */
  | "disk_full"
  /** The engine failed. */
  | "engine"
  /** The server stops; the session resumes after its start. */
  | "stopping";

/** Why a session is refused, or a call on it. */
export type LiveRefusal =
  /** The machine serves as many sessions as it can. */
  | { readonly kind: "full"; readonly sessions: number }
  /** The account has as many sessions as one account may have: other accounts need places, too. */
  | { readonly kind: "account_full"; readonly sessions: number }
  /** `live.enabled` is off. */
  | { readonly kind: "off" }
  | { readonly kind: "audio_used_up" }
  /** The session does not exist, has ended, or belongs to another key. */
  | { readonly kind: "unknown_session" }
  /** The session has a client. */
  | { readonly kind: "in_use" }
  | { readonly kind: "bad_option"; readonly option: keyof LiveOptions; readonly reason: string }
  /** More sound is waiting than a session may send ahead. */
  | { readonly kind: "too_fast" }
  /** The turn has too little sound to commit. */
  | { readonly kind: "empty_turn" };

/** A session, or a call on it, was refused. A surface converts it to its own error, as it does for IntakeError. */
export class LiveError extends Error {
  override readonly name = "LiveError";

  constructor(readonly refusal: LiveRefusal) {
    super(refusal.kind);
  }
}

/** Receives the events of a session, in order. Must not throw. */
export type LiveListener = (event: LiveEvent) => void;

/** A session with its client. Calls other than the ends throw `unknown_session` once the session ends by itself. */
export interface LiveSession {
  /** UUID v7. */
  readonly id: string;
  readonly options: LiveOptions;
  /**
   * Changes options from the next turn on, and the format before the first sound.
   * @throws {LiveError} `bad_option`, also for a format after the first sound
   */
  update(options: Partial<Omit<LiveOptions, "keep">>): void;
  /** Takes sound in the session's format. It is stored before the call returns. @throws {LiveError} `too_fast` */
  write(sound: Uint8Array): void;
  /** Ends the turn with the sound so far. @throws {LiveError} `empty_turn` */
  commit(): void;
  /** Drops the sound of the turn that has not been committed. It stays in the recording. */
  clear(): void;
  /** Names a speaker; the recording that the session becomes has the name, too. */
  nameSpeaker(speaker: string, name: string): void;
  /** Ends the session: the last event is `ended`, once all sound so far has its words. */
  end(): Promise<void>;
  /** The connection is lost. The session can be resumed for two minutes, then it ends. */
  detach(): void;
  /** The client has left and does not resume: the session ends. Words that nobody gets are not recognized. */
  leave(): void;
}

/** The account and workspace of a session, and who may resume it. */
export interface LiveSender extends Sender {
  /** The key's id, or another stable name of who opened the session. */
  readonly holder: string;
}

/** A session that continues after its connection was lost. */
export interface ResumedSession {
  readonly session: LiveSession;
  /** Duration of the sound that the server has: the client continues from there. */
  readonly receivedSeconds: number;
  /** Final segments from the requested number on. */
  readonly segments: readonly LiveSegment[];
}

/** The live sessions of a server. */
export interface LiveSessions {
  /**
   * Opens a session.
   * @throws {LiveError} `off`, `full`, `account_full`, `audio_used_up`, `bad_option`
   * @throws {IntakeError} as for a create
   */
  open(sender: LiveSender, options: LiveOptions, listener: LiveListener): LiveSession;
  /**
   * Continues a session of the same holder.
   * @param fromSegment number of the first final segment that the client does not have
   * @throws {LiveError} `unknown_session`, `in_use`
   */
  resume(sender: LiveSender, id: string, fromSegment: number, listener: LiveListener): ResumedSession;
  /** Returns if there is a place for a session of an account. @throws {LiveError} `off`, `full`, `account_full` */
  requirePlace(account: Account): void;
  /** Number of open sessions, and of those that the machine serves at the same time: 0 if `live.enabled` is off. */
  status(): { readonly open: number; readonly places: number };
}
