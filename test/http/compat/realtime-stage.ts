import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { parseNetworks } from "../../../src/addresses/index.ts";
import { createSurfaces, parseHostNames, readCredentials, startServer } from "../../../src/http/index.ts";
import { LiveError } from "../../../src/live/index.ts";
import { makeCertificate } from "../../support/certificate.ts";
import { ApiServer } from "../../support/http.ts";
import { liveSegment, type ScriptedSession } from "../../support/live.ts";

/** Bytes of sound after which speech detection ends a turn here. */
export const TURN_BYTES = 48_000;

/** The question that a client's script reads. */
export interface RealtimeQuestion {
  readonly http_url: string;
  /** The Node SDK uses nothing else. */
  readonly https_url: string;
  readonly key: string;
  readonly turn_bytes: number;
}

/**
 * A server without an engine, over HTTP and HTTPS, whose live sessions recognize the same words in every turn. A turn ends
 * with a commit, or with enough sound.
 */
export class RealtimeStage implements AsyncDisposable {
  readonly server = new ApiServer();
  readonly question: RealtimeQuestion;
  /** Path of the certificate, which the programs must trust. */
  readonly certificatePath: string;
  readonly #folder = temporaryDirectory();
  readonly #tls: ReturnType<typeof startServer>;

  constructor() {
    const { server } = this;
    server.live.onOpen = script;
    const certificate = makeCertificate(this.#folder.path, "realtime", "localhost");
    this.certificatePath = certificate.certificatePath;
    const { log, metrics, now } = server.appOptions;
    this.#tls = startServer({
      ...{ surfaces: createSurfaces({ ...server.appOptions, secure: true }), host: "127.0.0.1", port: 0 },
      credentials: readCredentials(certificate.certificatePath, certificate.keyPath, Date.now()),
      ...{ log, metrics, now, proxies: () => parseNetworks([]), hosts: () => parseHostNames([]), pause: () => null },
    });
    this.question = {
      ...{ http_url: `${server.origin}/v1`, https_url: `https://localhost:${this.#tls.port}/v1` },
      ...{ key: server.client("first").key, turn_bytes: TURN_BYTES },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#tls.stop(true);
    this.server[Symbol.dispose]();
    this.#folder[Symbol.dispose]();
  }
}

/** Lets a session recognize "Good day. Hello!" in every turn. */
function script(session: ScriptedSession): void {
  let bytes = 0;
  let turns = 0;
  let segments = 0;
  const end = () => {
    const turn = `t${++turns}`;
    const previous = turns === 1 ? null : `t${turns - 1}`;
    bytes = 0;
    if (session.options.turns !== null) {
      session.emit({ type: "speechStarted", turn, seconds: turns });
      session.emit({ type: "speechStopped", turn, seconds: turns + 0.5 });
    }
    session.emit({ type: "final", turn, segment: liveSegment(segments++, "Good day.", "S1") });
    session.emit({ type: "committed", turn, previous });
    session.emit({ type: "final", turn, segment: liveSegment(segments++, "Hello!", "S2") });
    session.emit({ type: "turnCompleted", turn, text: "Good day. Hello!", seconds: 1, language: "en" });
  };
  session.onCall = (call) => {
    if (call.call === "write") {
      bytes += call.sound.length;
      if (session.options.turns !== null && bytes >= TURN_BYTES) end();
    }
    if (call.call === "clear") session.emit({ type: "cleared" });
    if (call.call !== "commit") return;
    if (bytes === 0) throw new LiveError({ kind: "empty_turn" });
    end();
  };
}
