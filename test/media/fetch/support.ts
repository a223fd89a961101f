import { readdirSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { createServer as createTlsServer } from "node:tls";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { parseAllowList } from "../../../src/addresses/index.ts";
import { type FetchRequest, fetchRecording, MediaError } from "../../../src/media/index.ts";

/** Answers one request on a raw connection, so that it can be wrong, slow or interrupted. */
export type Behaviour = (socket: Socket, head: string) => void;

export interface TestHost extends AsyncDisposable {
  readonly port: number;
  /** Headers of the requests so far. */
  readonly requests: string[];
  /** Number of connections so far, with or without a request. */
  readonly connections: () => number;
  /** Fetches a path of this host over HTTP, under the name `recordings.test`. */
  readonly fetching: (path: string, options?: Fetching) => Promise<Outcome>;
}

/** Starts a host on a loopback address with a behaviour by path, or `*` for all others; the default is 404. */
export async function startHost(
  behaviours: Record<string, Behaviour>,
  options: { address?: string; tls?: { key: string; cert: string } } = {},
): Promise<TestHost> {
  const sockets = new Set<Socket>();
  const requests: string[] = [];
  let connections = 0;
  const accept = (socket: Socket) => {
    connections++;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
    socket.once("data", (data) => {
      const head = data.toString("latin1");
      requests.push(head);
      const path = head.split(" ")[1] ?? "";
      (behaviours[path] ?? behaviours["*"] ?? ((to) => to.end(answer("404 Not Found"))))(socket, head);
    });
  };
  const server: Server = options.tls === undefined ? createServer(accept) : createTlsServer(options.tls, accept);
  server.on("tlsClientError", () => {});
  await new Promise<void>((resolve, reject) => {
    server.on("error", reject);
    server.listen(0, options.address ?? "127.0.0.1", resolve);
  });
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error("the test host has no port");
  return {
    port: bound.port,
    requests,
    connections: () => connections,
    fetching: (path, options) => fetching(`http://recordings.test:${bound.port}${path}`, options),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Returns a response's bytes. Its Content-Length is the body's by default. */
export function answer(status: string, body: Uint8Array | string = "", ...headers: string[]): Buffer {
  const bytes = Buffer.from(body as Uint8Array);
  const own = headers.some((line) => /^(?:content-length|transfer-encoding):/i.test(line));
  const lines = [`HTTP/1.1 ${status}`, ...(own ? [] : [`Content-Length: ${bytes.length}`]), ...headers, "", ""];
  return Buffer.concat([Buffer.from(lines.join("\r\n"), "latin1"), bytes]);
}

/** A reservation of disk space that calls `listener` with the total of written bytes. */
export function onWritten(listener: (total: number) => void) {
  let total = 0;
  return {
    written(bytes: number) {
      total += bytes;
      listener(total);
    },
    [Symbol.dispose]() {},
  };
}

export const redirect = (location: string) => answer("302 Found", "", `Location: ${location}`);

/** Bytes of no known format. */
export const SOUND = Buffer.from(Array.from({ length: 200_000 }, (_, index) => (index * 7919 + 131) % 256));

/** The result of a fetch: content, or fault and message; and the files in its folder. */
export interface Outcome {
  readonly fault: string | null;
  readonly message: string;
  readonly content: Buffer | null;
  readonly files: string[];
}

/** Sends the recording. */
export const sound: Behaviour = (socket) => socket.write(answer("200 OK", SOUND));

export type Fetching = Partial<Omit<FetchRequest, "url" | "outputPath" | "allow">> & { allow?: string[] };

/** Fetches into a file. By default, 127.0.0.1 is permitted and every name resolves to it. */
export function fetchTo(outputPath: string, url: string, { allow = ["127.0.0.1"], ...more }: Fetching = {}) {
  return fetchRecording({
    ...{ maxBytes: 1 << 20, maxSeconds: 20, stallSeconds: 10, userAgent: "transcribe/test" },
    signal: new AbortController().signal,
    resolve: async () => ["127.0.0.1"],
    ...more,
    ...{ url: new URL(url), outputPath, allow: parseAllowList(allow) },
  });
}

/** Fetches into a folder of its own. */
export async function fetching(url: string, options: Fetching = {}): Promise<Outcome> {
  using folder = temporaryDirectory();
  const outputPath = join(folder.path, "recording");
  try {
    await fetchTo(outputPath, url, options);
    const content = Buffer.from(await Bun.file(outputPath).arrayBuffer());
    return { fault: null, message: "", content, files: readdirSync(folder.path) };
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    return { fault: error.fault, message: error.message, content: null, files: readdirSync(folder.path) };
  }
}

/** Fetches from a host that behaves in one way. */
export async function fetchingFrom(behaviour: Behaviour, options?: Fetching): Promise<Outcome> {
  await using host = await startHost({ "*": behaviour });
  return await host.fetching("/a.mp3", options);
}
