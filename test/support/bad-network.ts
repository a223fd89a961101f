import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

/** The fate of a request: it passes, its connection breaks before it or before the response, or it gets this response. */
export type Fate =
  | "pass"
  | "break"
  | "lose the answer"
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body: string };

export function refusal(status: number, error: string, headers: Record<string, string> = {}): Fate {
  return { status, headers, body: JSON.stringify({ error, message: "Refused by the test." }) };
}

/** A request that was received. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly idempotencyKey: string | undefined;
}

/** An unreliable network in front of a server: the next requests meet the fates that a test sets; all others pass. */
export class BadNetwork implements AsyncDisposable {
  readonly fates: Fate[] = [];
  readonly seen: SeenRequest[] = [];
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  readonly #target: () => string;

  /** @param target the server's origin */
  constructor(target: () => string) {
    this.#target = target;
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    const address = this.#server.address();
    return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url = "", headers } = request;
    const idempotencyKey = headers["idempotency-key"];
    this.seen.push({ method, path: url, idempotencyKey: Array.isArray(idempotencyKey) ? undefined : idempotencyKey });
    const pieces: Uint8Array[] = [];
    for await (const piece of request) pieces.push(piece as Uint8Array);
    const fate = url.endsWith("/languages") ? "pass" : (this.fates.shift() ?? "pass");
    if (fate === "break") {
      request.socket.destroy();
      return;
    }
    if (typeof fate === "object") {
      response.writeHead(fate.status, fate.headers).end(fate.body);
      return;
    }
    const forwarded = new Headers();
    for (const [name, value] of Object.entries(headers)) {
      if (typeof value === "string" && !["host", "connection", "content-length"].includes(name))
        forwarded.set(name, value);
    }
    const body = pieces.length > 0 ? Buffer.concat(pieces) : null;
    const answer = await fetch(this.#target() + url, { method, headers: forwarded, body });
    if (fate === "lose the answer") {
      request.socket.destroy();
      return;
    }
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(Buffer.from(await answer.arrayBuffer()));
  }
}
