import { expect } from "bun:test";
import type { ServerWebSocket } from "bun";

/** What happens to a connection. Positions are bytes of the session's sound. */
export interface LiveFate {
  /** The server answers this instead of accepting the WebSocket. */
  readonly refuse?: { readonly status: number; readonly error: string; readonly headers?: Record<string, string> };
  /** From here on, messages get lost. */
  readonly muteAt?: number;
  /** Here the connection ends. */
  readonly closeAt?: number;
  /** The close code. Without one, the connection breaks. */
  readonly code?: number;
  readonly reason?: string;
  /** Bytes of sound that the server loses when the connection ends. */
  readonly forget?: number;
  /** A text that the server sends after its first message. */
  readonly says?: string;
}

/** A session of the scripted server. */
export interface ScriptedSession {
  readonly id: string;
  readonly query: Readonly<Record<string, string>>;
  sound: Buffer;
  /** Messages of the client with the positions at which they arrived. */
  readonly messages: {
    readonly at: number;
    readonly message: { readonly type: string; readonly [field: string]: unknown };
  }[];
  /** Queries of the connections that resumed the session. */
  readonly resumes: Readonly<Record<string, string>>[];
  /** Number of binary frames. */
  frames: number;
  segments: { number: number; start: number; end: number; text: string; speaker: string | null; words: object[] }[];
  turn: number;
}

interface Connected {
  readonly query: Readonly<Record<string, string>>;
  readonly fate: LiveFate;
  session: ScriptedSession | null;
  isMute: boolean;
}

/** Bytes of a second of sound: 16 kHz, 16 bits. */
export const SECOND = 32_000;
export const SEGMENT_SECONDS = 3;
export const recordingId = "01890a5d-ac96-774b-bcce-b302099a8057";
const path = "/api/public/v1/live";

/**
 * A server that speaks the protocol of live sessions by a script: a partial text for each second of sound, and a final
 * segment for each three seconds, whose speaker follows. Each connection meets the next fate.
 */
export class ScriptedLive implements Disposable {
  readonly fates: LiveFate[] = [];
  readonly sessions: ScriptedSession[] = [];
  readonly key = `trs_${"k".repeat(49)}`;
  /** Reason of a regular end. */
  endReason = "client";
  #refusal: LiveFate["refuse"];
  readonly #server = Bun.serve<Connected>({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request, server) => this.#answer(request, server),
    websocket: {
      open: (socket) => this.#open(socket),
      message: (socket, data) => this.#receive(socket, data),
      close: () => {},
    },
  });

  get origin(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  /** The only session. */
  get session(): ScriptedSession {
    const [session] = this.sessions;
    expect(this.sessions).toHaveLength(1);
    if (session === undefined) throw new Error("there is no session");
    return session;
  }

  [Symbol.dispose](): void {
    void this.#server.stop(true);
  }

  #answer(request: Request, server: Bun.Server<Connected>): Response | undefined {
    const url = new URL(request.url);
    const offered = (request.headers.get("sec-websocket-protocol") ?? "").split(",").map((each) => each.trim());
    const keys = [
      request.headers.get("authorization")?.slice("Bearer ".length),
      ...offered.map((each) => each.slice("bearer.".length)),
    ];
    if (!keys.includes(this.key)) return envelope(401, "invalid_api_key");
    if (url.pathname.endsWith("/languages")) return Response.json({ data: [{ code: "en", name: "English" }] });
    if (url.pathname !== path) return envelope(404, "not_found");
    if (request.headers.get("upgrade") !== "websocket") {
      const { status = 426, error = "bad_request", headers } = this.#refusal ?? {};
      return envelope(status, error, headers);
    }
    const fate = this.fates.shift() ?? {};
    this.#refusal = fate.refuse;
    if (fate.refuse !== undefined) return envelope(fate.refuse.status, fate.refuse.error, fate.refuse.headers);
    const query = Object.fromEntries(url.searchParams);
    const headers = offered.includes("transcribe") ? { "Sec-WebSocket-Protocol": "transcribe" } : {};
    if (server.upgrade(request, { data: { query, fate, session: null, isMute: false }, headers })) return undefined;
    return envelope(500, "internal_error");
  }

  #open(socket: ServerWebSocket<Connected>): void {
    const { query, fate } = socket.data;
    const resumed = this.sessions.find(({ id }) => id === query.resume);
    const session = resumed ?? newSession(query);
    if (resumed === undefined) this.sessions.push(session);
    else session.resumes.push(query);
    socket.data.session = session;
    const { language = null, keep, sample_rate = "16000", encoding = "pcm16" } = session.query;
    const first = {
      ...{
        type: "session",
        id: session.id,
        sample_rate: Number(sample_rate),
        encoding,
        language,
        keep: keep !== "false",
      },
      received_seconds: session.sound.length / SECOND,
      segments: session.segments.filter(({ number }) => number >= Number(query.from_segment)),
    };
    socket.sendText(JSON.stringify(first));
    if (fate.says !== undefined) socket.sendText(fate.says);
    this.#endIfDue(socket, session);
  }

  #receive(socket: ServerWebSocket<Connected>, data: string | Buffer): void {
    const { session, fate } = socket.data;
    if (session === null) return;
    const send = (message: object) => void (socket.data.isMute || socket.sendText(JSON.stringify(message)));
    if (typeof data === "string") {
      const message = JSON.parse(data);
      session.messages.push({ at: session.sound.length, message });
      obey(session, message, send, this.endReason);
      if (message.type === "end") socket.close(1000, "The session has ended.");
      return;
    }
    const room = (fate.closeAt ?? Number.POSITIVE_INFINITY) - session.sound.length;
    const taken = data.subarray(0, Math.min(data.length, room));
    session.frames += 1;
    const before = Math.floor(session.sound.length / SECOND);
    session.sound = Buffer.concat([session.sound, taken]);
    const seconds = Math.floor(session.sound.length / SECOND);
    for (let second = before + 1; second <= seconds; second++) {
      if (second * SECOND >= (fate.muteAt ?? Number.POSITIVE_INFINITY)) socket.data.isMute = true;
      hear(session, second, send);
    }
    this.#endIfDue(socket, session);
  }

  #endIfDue(socket: ServerWebSocket<Connected>, session: ScriptedSession): void {
    const { closeAt, code, reason, forget = 0 } = socket.data.fate;
    if (closeAt === undefined || session.sound.length < closeAt) return;
    session.sound = session.sound.subarray(0, session.sound.length - forget);
    socket.data.session = null;
    if (code === undefined) socket.terminate();
    else socket.close(code, reason);
  }
}

function newSession(query: ScriptedSession["query"]): ScriptedSession {
  const nothing = { sound: Buffer.alloc(0), messages: [], resumes: [], frames: 0, segments: [], turn: 1 };
  return { id: Bun.randomUUIDv7(), query, ...nothing };
}

function hear(session: ScriptedSession, second: number, send: (message: object) => void): void {
  const turn = `turn_${session.turn}`;
  if (second === 1) send({ type: "speech_started", turn, seconds: 0 });
  send({ type: "partial", turn, text: `heard ${second}`, words: [word("heard", second - 1, second)] });
  if (second % SEGMENT_SECONDS === 0) finish(session, second, send);
}

/** Makes the sound so far final. */
function finish(session: ScriptedSession, end: number, send: (message: object) => void): void {
  const start = session.segments.at(-1)?.end ?? 0;
  if (end <= start) return;
  const number = session.segments.length;
  const text = `Segment ${number}.`;
  const segment = { number, start, end, text, speaker: null, words: [word(text, start, end)] };
  session.segments.push(segment);
  send({ type: "final", turn: `turn_${session.turn}`, segment: { ...segment } });
  const speaker = `S${1 + (number % 2)}`;
  session.segments[number] = { ...segment, speaker };
  send({ type: "speakers", speakers: [{ segment: number, speaker }] });
}

function obey(
  session: ScriptedSession,
  { type }: { readonly type: string },
  send: (message: object) => void,
  endReason: string,
): void {
  const turn = `turn_${session.turn}`;
  if (type === "clear") send({ type: "cleared" });
  if (type !== "commit" && type !== "end") return;
  const seconds = session.sound.length / SECOND;
  send({ type: "committed", turn, previous_turn: session.turn === 1 ? null : `turn_${session.turn - 1}` });
  finish(session, seconds, send);
  send({ type: "turn_completed", turn, text: "", seconds, language: "en" });
  session.turn += 1;
  if (type === "end")
    send({ type: "ended", reason: endReason, recording_id: session.query.keep === "false" ? null : recordingId });
}

function word(text: string, start: number, end: number): object {
  return { text, start, end, probability: 0.9 };
}

function envelope(status: number, error: string, headers: Record<string, string> = {}): Response {
  const own = { "X-Request-Id": "request-1", ...headers };
  return Response.json({ error, message: "Refused by the test." }, { status, headers: own });
}
