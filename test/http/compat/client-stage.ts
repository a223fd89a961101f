import { changeAccount } from "../../../src/accounts/index.ts";
import { ApiServer } from "../../support/http.ts";
import { end, jfk, leftovers } from "./support.ts";

const diarized = (index: number, start: number, end: number, speaker: string, text: string) => {
  return { type: "transcript.text.segment", id: `seg_${index}`, start, end, speaker, text };
};
const deltas = ["Good day.", " Hello!", " Bye."].map((delta) => ({ type: "transcript.text.delta", delta }));
const segments = [
  diarized(0, 0.5, 1.5, "A", "Good day."),
  diarized(1, 2, 2.5, "B", "Hello!"),
  diarized(2, 31, 32, "A", "Bye."),
];
const done = { type: "transcript.text.done", text: "Good day. Hello! Bye." };

/** The answers to a request whose recording has the usual conversation. */
export const answers = {
  text: "Good day. Hello! Bye.",
  usage: { type: "duration", seconds: 33 },
  srt: "1\n00:00:00,500 --> 00:00:01,500\nGood day.\n",
  vtt: "WEBVTT\n\n00:00:00.500 --> ",
  words: [{ word: "Good", start: 0.5, end: 0.9 }, {}, {}, {}],
  segments,
  logprobs: [{ token: " Good" }, {}, {}, {}],
  stream: [...deltas, done],
  diarizedStream: [deltas[0], segments[0], deltas[1], segments[1], deltas[2], segments[2], done],
};

/** Bytes that a file may have on a stage. */
const UPLOAD_BYTES = 2_000_000;

/** The question that a client's script reads. */
export interface Question {
  readonly base_url: string;
  readonly key: string;
  /** A key of an account without a place for recordings. */
  readonly full_key: string;
  /** Path of a recording. */
  readonly file: string;
  readonly upload_bytes: number;
  /** Base URL of the controls: `refuse`, `waiting` and `gone`. */
  readonly control_url: string;
}

/**
 * A server without an engine, for the script of a client. Each recording ends as its prompt says: `fail` fails, `silence`
 * has no speech, and `wait` does not end. Others complete with the usual conversation.
 *
 * The script controls the server with requests to a port of its own: `refuse` answers the next request with 503,
 * `waiting` answers when a recording waits for its end, and `gone` when none of it is left.
 */
export class ClientStage implements AsyncDisposable {
  readonly server = new ApiServer({ recordingsPerAccount: 100, uploadBytes: UPLOAD_BYTES });
  readonly question: Question;
  /** Prompt and language of each ended recording that has one of them, in the order of creation. */
  readonly hints: [prompt: string | null, language: string | null][] = [];
  /** The ids of the recordings that do not end. */
  readonly #unended: string[] = [];
  readonly #control: Bun.Server<undefined>;
  readonly #stop = new AbortController();
  readonly #endings: Promise<void>;
  #refusals = 0;

  constructor(file: string = jfk) {
    const { server } = this;
    const { key } = server.client("first");
    const full = server.client("full");
    changeAccount(server.store, server.account("full"), server.operator(), { limits: { recordings_per_account: 0 } });
    Object.defineProperty(server, "trouble", {
      get: () => (this.#refusals-- > 0 ? "The server is stopping." : null),
    });
    this.#control = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      idleTimeout: 60,
      routes: {
        "/refuse": () => {
          this.#refusals = 1;
          return new Response("done");
        },
        "/waiting": () => this.#answerWhen(() => this.#waiting().length > 0),
        "/gone": () => this.#answerWhen(() => this.#waiting().length === 0 && leftovers(server).length === 0),
      },
    });
    this.question = {
      ...{ base_url: `${server.origin}/v1`, key, full_key: full.key, file, upload_bytes: UPLOAD_BYTES },
      control_url: `http://127.0.0.1:${this.#control.port}`,
    };
    this.#endings = this.#endAll();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#endings;
    await this.#control.stop(true);
    this.server[Symbol.dispose]();
  }

  async #answerWhen(condition: () => boolean): Promise<Response> {
    while (!condition() && !this.#stop.signal.aborted) await Bun.sleep(2);
    return new Response("done");
  }

  /** Returns the ids of the recordings that do not end, and whose clients wait. */
  #waiting(): string[] {
    return this.#unended.filter((id) => this.server.recordings.get(id) !== null);
  }

  async #endAll(): Promise<void> {
    const { server } = this;
    for (let next = 0; !this.#stop.signal.aborted; ) {
      const id = server.queued[next];
      if (id === undefined) {
        await Bun.sleep(2);
        continue;
      }
      next++;
      const recording = server.recordings.get(id);
      // Its client has left already.
      if (recording === null) continue;
      const { prompt, pinnedLanguage: language } = recording;
      if (prompt === "wait") {
        this.#unended.push(id);
        continue;
      }
      if (prompt !== null || language !== null) this.hints.push([prompt, language]);
      if (prompt === "fail") end(server, id, { failure: { reason: "internal", cause: "engine_crashed" } });
      else if (prompt === "silence") end(server, id, { failure: { reason: "no_speech" } });
      else end(server, id);
    }
  }
}
