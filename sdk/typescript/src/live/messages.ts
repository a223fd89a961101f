import type { Word } from "../types.ts";

/** Encodings of sound: one channel, little-endian; `mulaw` and `alaw` are G.711. */
export type LiveEncoding = "pcm16" | "float32" | "mulaw" | "alaw";

/** How turns end. */
interface TurnOptions {
  /** `auto` (default): speech detection ends turns. `manual`: only `commit` does. */
  readonly turns?: "auto" | "manual" | undefined;
  /** Probability from which sound counts as speech, 0 to 1. */
  readonly threshold?: number | undefined;
  /** Milliseconds before the detected start of a turn that belong to it. */
  readonly padding_ms?: number | undefined;
  /** Milliseconds of silence that end a turn. */
  readonly silence_ms?: number | undefined;
}

/** Choices for a session. */
export interface LiveParameters extends TurnOptions {
  /** Samples per second, from 8000 to 48000. Default: 16000. */
  readonly sample_rate?: number | undefined;
  /** Default: `pcm16`. */
  readonly encoding?: LiveEncoding | undefined;
  /** Code of `GET /languages`. If omitted, the language is detected. */
  readonly language?: string | undefined;
  /** Names and terms to expect, separated by commas or line ends. */
  readonly prompt?: string | undefined;
  /** Whether the session becomes a recording when it ends. Default: true. Otherwise nothing of it is kept. */
  readonly keep?: boolean | undefined;
  /** Name of the recording. */
  readonly name?: string | undefined;
}

/** Choices that may change from the next turn on. */
export interface LiveUpdate extends TurnOptions {
  /** Null for language detection. */
  readonly language?: string | null | undefined;
  /** Null for none. */
  readonly prompt?: string | null | undefined;
}

/** Words that do not change any more. Times are seconds from the start of the session. */
export interface LiveSegment {
  /** Position in the session, from 0. */
  readonly number: number;
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** Label such as `S1`; null while it is not known, see the event `speakers`. */
  readonly speaker: string | null;
  readonly words: readonly Word[];
}

/** Why a session ended. After `stopping`, the client resumes it when the server is back. */
export type LiveEndReason =
  | "client"
  | "disconnected"
  | "idle"
  | "too_long"
  | "audio_used_up"
  | "access"
  | "disk_full"
  | "engine"
  | "stopping";

/** The first message of each connection. */
export interface SessionMessage {
  readonly type: "session";
  readonly id: string;
  readonly sample_rate: number;
  readonly encoding: LiveEncoding;
  /** The pinned language; null for language detection. */
  readonly language: string | null;
  readonly keep: boolean;
  /** Duration of the sound that the server has. */
  readonly received_seconds: number;
  /** After a resume: the final segments that the client lacks. */
  readonly segments: readonly LiveSegment[];
}

/** The last event. */
export interface LiveEnded {
  readonly type: "ended";
  readonly reason: LiveEndReason;
  /** Id of the recording that the session has become; null if it is not kept. */
  readonly recording_id: string | null;
}

/** Events that are messages of the server. */
type MessageEvent =
  | { readonly type: "speech_started" | "speech_stopped"; readonly turn: string; readonly seconds: number }
  /** The turn has no more sound. */
  | { readonly type: "committed"; readonly turn: string; readonly previous_turn: string | null }
  | { readonly type: "cleared" }
  /** Words after the final ones of the turn, which may change. They replace the previous partial ones. */
  | { readonly type: "partial"; readonly turn: string; readonly text: string; readonly words: readonly Word[] }
  /** Words that do not change any more. The turn is null if they were recognized while the connection was lost. */
  | { readonly type: "final"; readonly turn: string | null; readonly segment: LiveSegment }
  | {
      readonly type: "turn_completed";
      readonly turn: string;
      readonly text: string;
      /** Duration of the turn's sound. */
      readonly seconds: number;
      /** Null when nobody spoke. */
      readonly language: string | null;
    }
  | { readonly type: "turn_failed"; readonly turn: string }
  /** Speakers of earlier segments, by the segments' numbers. */
  | { readonly type: "speakers"; readonly speakers: readonly { readonly segment: number; readonly speaker: string }[] }
  /** A message was refused. The session continues. */
  | { readonly type: "error"; readonly error: string; readonly message: string }
  | LiveEnded;

/** An event of a session. */
export type LiveEvent =
  /** The session is open, or was resumed. */
  | Omit<SessionMessage, "segments">
  | MessageEvent
  /** The connection was lost. The client resumes the session; the next event is `session`. */
  | { readonly type: "disconnected" };

/** A message of the server. */
export type ServerMessage = SessionMessage | MessageEvent;

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
const isNumber: Check = (value) => typeof value === "number";
const isTextOrNull: Check = (value) => value === null || isText(value);
const isListOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
const hasFields = (fields: Readonly<Record<string, Check>>): Check => {
  const entries = Object.entries(fields);
  return (value) => isRecord(value) && entries.every(([name, check]) => check(value[name]));
};

const words = isListOf(hasFields({ text: isText, start: isNumber, end: isNumber, probability: isNumber }));
const segment = hasFields({
  ...{ number: isNumber, start: isNumber, end: isNumber, text: isText, speaker: isTextOrNull, words },
});
const atTime = hasFields({ turn: isText, seconds: isNumber });

const checks: Readonly<Record<ServerMessage["type"], Check>> = {
  session: hasFields({
    ...{ id: isText, sample_rate: isNumber, encoding: isText, language: isTextOrNull, received_seconds: isNumber },
    ...{ keep: (value) => typeof value === "boolean", segments: isListOf(segment) },
  }),
  speech_started: atTime,
  speech_stopped: atTime,
  committed: hasFields({ turn: isText, previous_turn: isTextOrNull }),
  cleared: () => true,
  partial: hasFields({ turn: isText, text: isText, words }),
  final: hasFields({ turn: isText, segment }),
  turn_completed: hasFields({ turn: isText, text: isText, seconds: isNumber, language: isTextOrNull }),
  turn_failed: hasFields({ turn: isText }),
  speakers: hasFields({ speakers: isListOf(hasFields({ segment: isNumber, speaker: isText })) }),
  error: hasFields({ error: isText, message: isText }),
  ended: hasFields({ reason: isText, recording_id: isTextOrNull }),
};

/** Parses a message of the server. @returns null for a type of a later version; "bad" for what is no message */
export function parseMessage(data: unknown): ServerMessage | null | "bad" {
  let value: unknown;
  try {
    value = typeof data === "string" ? JSON.parse(data) : null;
  } catch {
    return "bad";
  }
  if (!isRecord(value) || typeof value.type !== "string") return "bad";
  if (!Object.hasOwn(checks, value.type)) return null;
  return checks[value.type as ServerMessage["type"]](value) ? (value as unknown as ServerMessage) : "bad";
}
