import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

const bodySchema = Type.Object({
  type: Type.String(),
  timestamp: Type.String(),
  data: Type.Object({ id: Type.Optional(Type.String()), revision: Type.Optional(Type.Integer()) }),
});

/** A message that a receiver got. */
export interface Message {
  readonly id: string;
  readonly type: string;
  readonly recordingId: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

type Answer = (message: Message, response: ServerResponse) => void;

/** A receiver of webhooks on this machine. */
export class HookReceiver implements AsyncDisposable {
  readonly messages: Message[] = [];
  /** Sends the answer to a message; 204 by default. */
  answer: Answer = (_, response) => void response.writeHead(204).end();
  readonly #server: Server;
  #heard = Promise.withResolvers<void>();

  private constructor() {
    this.#server = createServer((request, response) => void this.#receive(request, response));
  }

  static async start(): Promise<HookReceiver> {
    const receiver = new HookReceiver();
    await new Promise<void>((resolve) => receiver.#server.listen(0, "127.0.0.1", resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`;
  }

  /** Resolves when the messages fulfil a condition. */
  async until(condition: (messages: readonly Message[]) => boolean): Promise<void> {
    while (!condition(this.messages)) await this.#heard.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request as AsyncIterable<Uint8Array>) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const { type, data } = Value.Decode(bodySchema, JSON.parse(body));
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const message = { id: headers["webhook-id"] ?? "", type, recordingId: data.id ?? "", body, headers };
    this.messages.push(message);
    this.answer(message, response);
    const { resolve } = this.#heard;
    this.#heard = Promise.withResolvers();
    resolve();
  }
}
