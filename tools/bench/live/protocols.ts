import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

/** Meaning of a message for the client that measures. */
export type Step =
  /** The session takes sound. */
  | "ready"
  /** The texts have changed. */
  | "shown"
  /** All words of the sound are final. */
  | "ended"
  | "other";

/** The client's side of a session, which reads messages one after the other. */
export interface Reader {
  /** All final text so far. */
  readonly final: string;
  /** Text after it, which may change. */
  readonly partial: string;
  /** @throws {Error} when the server refuses the session */
  read(message: unknown): Step;
}

/** Protocol of a program: how its sessions are opened, read and ended. */
export interface Protocol {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** First message of the client; null for none. */
  readonly hello: string | null;
  readonly newReader: () => Reader;
  readonly end: string | Uint8Array<ArrayBuffer>;
  /** Silence after the sound, for a program that closes a session at its end before the last words are final. */
  readonly tailSeconds: number;
}

/** @param url address of the server's API, with `ws` */
export function ownProtocol(url: string, key: string, language: string | null): Protocol {
  const query = new URLSearchParams({ sample_rate: "16000", encoding: "pcm16", keep: "false" });
  if (language !== null) query.set("language", language);
  return {
    url: `${url}/live?${query}`,
    headers: { authorization: `Bearer ${key}` },
    hello: null,
    newReader: () => new OwnReader(),
    end: JSON.stringify({ type: "end" }),
    tailSeconds: 0,
  };
}

const turn = Type.String();
const called = <const Name extends string>(type: Name) => Type.Object({ type: Type.Literal(type) });
const ownMessage = Type.Union([
  Type.Object({ type: Type.Literal("partial"), turn, text: Type.String() }),
  Type.Object({
    ...{ type: Type.Literal("final"), turn },
    segment: Type.Object({ number: Type.Integer(), text: Type.String() }),
  }),
  Type.Object({ type: Type.Literal("turn_completed"), turn }),
  Type.Object({ type: Type.Literal("turn_failed"), turn }),
  Type.Object({ type: Type.Literal("error"), message: Type.String() }),
  called("session"),
  called("speech_started"),
  called("speech_stopped"),
  called("committed"),
  called("speakers"),
  called("ended"),
]);

class OwnReader implements Reader {
  readonly #segments = new Map<number, string>();
  readonly #partials = new Map<string, string>();

  get final(): string {
    return [...this.#segments]
      .sort(([a], [b]) => a - b)
      .map(([, text]) => text)
      .join(" ");
  }

  get partial(): string {
    return [...this.#partials.values()].join(" ");
  }

  read(message: unknown): Step {
    const known = Value.Decode(ownMessage, message);
    switch (known.type) {
      case "session":
        return "ready";
      case "partial":
        this.#partials.set(known.turn, known.text);
        return "shown";
      case "final":
        this.#segments.set(known.segment.number, known.segment.text);
        // The final words were the first of the partial ones; the next message has the rest.
        this.#partials.delete(known.turn);
        return "shown";
      case "turn_completed":
      case "turn_failed":
        this.#partials.delete(known.turn);
        return "shown";
      case "ended":
        return "ended";
      case "error":
        throw new Error(`the server refused a message: ${known.message}`);
      default:
        return "other";
    }
  }
}

const liveKitMessage = Type.Union([
  Type.Object({ type: Type.Literal("config") }),
  Type.Object({ type: Type.Literal("ready_to_stop") }),
  Type.Object({
    lines: Type.Array(Type.Object({ text: Type.Optional(Type.Union([Type.String(), Type.Null()])) })),
    buffer_transcription: Type.String(),
  }),
]);

/** The protocol of WhisperLiveKit's own page: each message has the whole transcript. */
export function liveKitProtocol(port: number): Protocol {
  return {
    url: `ws://127.0.0.1:${port}/asr`,
    headers: {},
    hello: null,
    newReader() {
      const reader = { final: "", partial: "" };
      return Object.assign(reader, {
        read(message: unknown): Step {
          const known = Value.Decode(liveKitMessage, message);
          if ("type" in known) return known.type === "config" ? "ready" : "ended";
          reader.final = known.lines.map(({ text }) => text ?? "").join(" ");
          reader.partial = known.buffer_transcription;
          return "shown";
        },
      });
    },
    // An empty message.
    end: new Uint8Array(),
    tailSeconds: 0,
  };
}

const whisperLiveMessage = Type.Object({
  status: Type.Optional(Type.String()),
  message: Type.Optional(Type.Unknown()),
  segments: Type.Optional(
    Type.Array(Type.Object({ start: Type.String(), text: Type.String(), completed: Type.Boolean() })),
  ),
});

/** In this time, WhisperLive completes a segment that does not change any more. */
const WHISPER_LIVE_TAIL_SECONDS = 8;

/** The protocol of WhisperLive: each message has the last ten segments, of which all but the last are completed. */
export function whisperLiveProtocol(port: number, language: string | null): Protocol {
  return {
    url: `ws://127.0.0.1:${port}`,
    headers: {},
    hello: JSON.stringify({ uid: "bench", language, task: "transcribe", model: "base", use_vad: true }),
    newReader: () => new WhisperLiveReader(),
    end: "END_OF_AUDIO",
    tailSeconds: WHISPER_LIVE_TAIL_SECONDS,
  };
}

class WhisperLiveReader implements Reader {
  readonly #completed = new Map<string, string>();
  partial = "";

  get final(): string {
    return [...this.#completed.values()].join(" ");
  }

  read(message: unknown): Step {
    const known: Static<typeof whisperLiveMessage> = Value.Decode(whisperLiveMessage, message);
    if (known.status !== undefined) throw new Error(`the session was refused: ${known.status}, ${known.message}`);
    if (known.message === "SERVER_READY") return "ready";
    if (known.segments === undefined) return known.message === "DISCONNECT" ? "ended" : "other";
    for (const { start, text, completed } of known.segments) if (completed) this.#completed.set(start, text);
    this.partial = known.segments
      .filter(({ completed }) => !completed)
      .map(({ text }) => text)
      .join(" ");
    return "shown";
  }
}
