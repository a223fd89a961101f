import { Value } from "@sinclair/typebox/value";
import { liveMessages } from "../../../api-contract/index.ts";
import { type LiveEnd, LiveError, type LiveEvent, type LiveSession, type ResumedSession } from "../../../live/index.ts";
import { cleanText, HintError } from "../../../text/index.ts";
import { closeCodes, type GuardedSocket, type LiveProtocol } from "./guarded-socket.ts";
import { changesIn } from "./live-options.ts";
import { optionName } from "./live-refusal.ts";
import { SampleAligner } from "./sample-aligner.ts";
import { toMessage, toSegment } from "./to-message.ts";

/** A session that was opened, or resumed. */
type Connected = ResumedSession | { readonly session: LiveSession };

/** Maximum size of a frame with sound: 16 s of the largest format. */
const MAX_SOUND_BYTES = 3 * 1024 * 1024;
/** Maximum length of a message in text. */
const MAX_TEXT_CHARACTERS = 32 * 1024;

/** Close codes for ends that are no decision of the client's, with their reasons. */
const closings: Readonly<Partial<Record<LiveEnd, readonly [code: number, reason: string]>>> = {
  access: [closeCodes.policy, "The key may no longer use this server."],
  engine: [closeCodes.fault, "The recognition has failed."],
  stopping: [closeCodes.goingAway, "The server stops."],
};

/** The client of a live session, by our own protocol. */
export class LiveClient implements LiveProtocol {
  readonly #socket: GuardedSocket;
  readonly #session: LiveSession;
  readonly #aligner: SampleAligner;
  readonly #isResumed: boolean;
  #isEnding = false;
  #hasEnded = false;

  /**
   * @param open opens or resumes the session; what it throws is the caller's
   */
  constructor(socket: GuardedSocket, open: (listener: (event: LiveEvent) => void) => Connected) {
    this.#socket = socket;
    const early: LiveEvent[] = [];
    let isReady = false;
    const connected = open((event) => {
      if (isReady) this.#report(event);
      else early.push(event);
    });
    const { session } = connected;
    this.#session = session;
    this.#isResumed = "segments" in connected;
    const { receivedSeconds, segments } = "segments" in connected ? connected : { receivedSeconds: 0, segments: [] };
    const { format, language, keep } = session.options;
    this.#aligner = new SampleAligner(format.encoding);
    this.#send({
      type: "session",
      id: session.id,
      sample_rate: format.sampleRate,
      encoding: format.encoding,
      language,
      keep,
      received_seconds: receivedSeconds,
      segments: segments.map(toSegment),
    });
    isReady = true;
    for (const event of early) this.#report(event);
  }

  binary(bytes: Uint8Array): void {
    if (bytes.length > MAX_SOUND_BYTES) {
      this.#socket.end(closeCodes.tooLarge, "The frame is too large.");
      return;
    }
    // Sound that was on its way when the client ended the session.
    if (this.#isEnding) return;
    const samples = this.#aligner.align(bytes);
    if (samples.length > 0) this.#call(() => this.#session.write(samples));
  }

  text(text: string): void {
    if (text.length > MAX_TEXT_CHARACTERS) {
      this.#socket.end(closeCodes.tooLarge, "The message is too large.");
      return;
    }
    if (!this.#socket.countCommand()) return;
    const message = parseMessage(text);
    if (message === null) this.#refuseMessage("This is not a message of the protocol.");
    else if (this.#isEnding) this.#sendError("ending", "The session is ending.");
    else this.#call(() => this.#obey(message));
  }

  closed(wasOpen: boolean): void {
    if (this.#hasEnded) return;
    // Nobody can resume a session that ends, or whose id no client has.
    const isResumable = !this.#isEnding && (wasOpen || this.#isResumed);
    if (isResumable) this.#session.detach();
    else this.#session.leave();
  }

  #obey(message: liveMessages.ClientMessage): void {
    const session = this.#session;
    switch (message.type) {
      case "commit":
        session.commit();
        break;
      case "clear":
        session.clear();
        break;
      case "update":
        session.update(changesIn(message, session.options));
        break;
      case "speaker":
        this.#nameSpeaker(message.speaker, cleanText(message.name));
        break;
      case "end":
        this.#isEnding = true;
        session.end().catch((error: unknown) => this.#socket.fail(error));
        break;
    }
  }

  #nameSpeaker(speaker: string, name: string): void {
    if (name === "") this.#refuseMessage("A name has visible characters.");
    else this.#session.nameSpeaker(speaker, name);
  }

  /** Runs a call on the session, and reports its refusal. */
  #call(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (error instanceof HintError) this.#refuseMessage(error.message);
      else if (error instanceof LiveError) this.#refuseCall(error);
      else throw error;
    }
  }

  #refuseCall(error: LiveError): void {
    const { refusal } = error;
    switch (refusal.kind) {
      case "bad_option":
        this.#sendError("invalid_option", `${optionName(refusal.option)}: ${refusal.reason}`);
        break;
      case "empty_turn":
        this.#sendError("empty_turn", "The turn has too little sound to commit.");
        break;
      case "unknown_session":
        // The session ends by itself, and reports it when its last words are recognized.
        this.#isEnding = true;
        break;
      case "too_fast":
        // Dropped sound would leave a gap. The client can resume where the server's sound ends.
        this.#socket.end(closeCodes.policy, "The sound comes too fast.");
        break;
      default:
        throw error;
    }
  }

  #refuseMessage(reason: string): void {
    if (this.#socket.countMistake()) this.#sendError("invalid_message", reason);
  }

  #sendError(error: (typeof liveMessages.errorCodes)[number], message: string): void {
    this.#send({ type: "error", error, message });
  }

  #report(event: LiveEvent): void {
    if (event.type === "ended") this.#hasEnded = true;
    this.#send(toMessage(event));
    if (event.type !== "ended") return;
    const [code, reason] = closings[event.reason] ?? [closeCodes.ended, "The session has ended."];
    this.#socket.end(code, reason);
  }

  #send(message: liveMessages.ServerMessage): void {
    this.#socket.send(message);
  }
}

/** Returns a message of a client; null if it is none. */
function parseMessage(text: string): liveMessages.ClientMessage | null {
  try {
    const value: unknown = JSON.parse(text);
    return Value.Check(liveMessages.clientMessageSchema, value) ? value : null;
  } catch {
    return null;
  }
}
