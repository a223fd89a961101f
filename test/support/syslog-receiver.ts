import type { AddressInfo } from "node:net";
import { createServer, type Server, type TLSSocket, type TlsOptions } from "node:tls";

import { makeCertificate, makeSignedCertificate, type TestCertificate } from "./certificate.ts";

/** Certificates of an authority, of a receiver at 127.0.0.1 and of a server. */
export interface SyslogCertificates {
  readonly authority: TestCertificate;
  readonly receiver: TestCertificate;
  readonly client: TestCertificate;
}

export function makeSyslogCertificates(folder: string): SyslogCertificates {
  const authority = makeCertificate(folder, "authority");
  return {
    authority,
    receiver: makeSignedCertificate(folder, "receiver", authority, "IP:127.0.0.1,DNS:localhost"),
    client: makeSignedCertificate(folder, "client", authority),
  };
}

/** A message of RFC 5424 that a receiver got. */
export interface SyslogMessage {
  readonly priority: number;
  readonly time: string;
  readonly host: string;
  readonly app: string;
  readonly processId: string;
  readonly messageId: string;
  /** Values of the structured data by `ELEMENT.NAME`. */
  readonly data: Readonly<Record<string, string>>;
  /** Text after the byte order mark. */
  readonly text: string;
}

const header = /^<(\d{1,3})>1 (\S+) (\S{1,255}) (\S{1,48}) (\S{1,128}) (\S{1,32}) /;
const element = /^\[([^ =\]"]{1,32})((?: [^ =\]"]{1,32}="(?:[^"\\\]]|\\["\\\]])*")*)\]/;
const parameter = / ([^ =\]"]{1,32})="((?:[^"\\\]]|\\["\\\]])*)"/g;

/** Parses a message by the grammar of RFC 5424, section 6. @throws {Error} for any other text */
export function parseSyslog(message: Uint8Array): SyslogMessage {
  // The decoder of the test must not remove the byte order mark.
  const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(message);
  const [all, priority, time, host = "", app = "", processId = "", messageId = ""] = header.exec(text) ?? [];
  if (all === undefined || time === undefined) throw new Error(`no header of RFC 5424: ${text.slice(0, 200)}`);
  let rest = text.slice(all.length);
  const data: Record<string, string> = {};
  for (let match = element.exec(rest); match !== null; match = element.exec(rest)) {
    const [found, name, parameters = ""] = match;
    for (const [, key, value = ""] of parameters.matchAll(parameter)) {
      data[`${name}.${key}`] = value.replace(/\\(["\\\]])/g, "$1");
    }
    rest = rest.slice(found.length);
  }
  if (!rest.startsWith(" \uFEFF")) throw new Error(`no structured data with a UTF-8 message after it: ${rest}`);
  return { priority: Number(priority), time, host, app, processId, messageId, data, text: rest.slice(2) };
}

/** A receiver of syslog messages over TLS on this machine, which counts octets as RFC 5425 says. */
export class SyslogReceiver implements AsyncDisposable {
  readonly messages: SyslogMessage[] = [];
  /** Faults of the protocol. */
  readonly faults: string[] = [];
  connections = 0;
  /** Called for each connection and each message; it may destroy the connection. */
  onConnection: (socket: TLSSocket) => void = () => {};
  onMessage: (socket: TLSSocket) => void = () => {};
  readonly #server: Server;
  readonly #sockets = new Set<TLSSocket>();
  #heard = Promise.withResolvers<void>();

  private constructor(options: TlsOptions) {
    this.#server = createServer(options, (socket) => this.#receive(socket));
  }

  /** @param port 0 chooses a free one */
  static async start(options: TlsOptions, port = 0): Promise<SyslogReceiver> {
    const receiver = new SyslogReceiver(options);
    await new Promise<void>((resolve) => receiver.#server.listen(port, "127.0.0.1", resolve));
    return receiver;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Resolves when the messages fulfil a condition. */
  async until(condition: (messages: readonly SyslogMessage[]) => boolean): Promise<void> {
    while (!condition(this.messages)) await this.#heard.promise;
  }

  /** Returns the numbers of the entries in the order in which they came. */
  entries(): number[] {
    return this.messages.map(({ data }) => Number(data["transcribe@32473.entry"]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #receive(socket: TLSSocket): void {
    this.connections += 1;
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket));
    socket.on("error", () => {});
    this.onConnection(socket);
    let rest: Buffer = Buffer.alloc(0);
    socket.on("data", (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      while (!socket.destroyed) {
        const space = rest.indexOf(0x20);
        if (space < 0) break;
        const length = Number(rest.subarray(0, space).toString("latin1"));
        if (!(Number.isInteger(length) && length > 0)) {
          this.faults.push("a frame does not begin with the length of its message");
          return void socket.destroy();
        }
        if (rest.length < space + 1 + length) break;
        this.messages.push(parseSyslog(rest.subarray(space + 1, space + 1 + length)));
        rest = rest.subarray(space + 1 + length);
        this.onMessage(socket);
        const { resolve } = this.#heard;
        this.#heard = Promise.withResolvers();
        resolve();
      }
    });
    socket.on("end", () => rest.length > 0 && this.faults.push("a connection ended within a frame"));
  }
}
