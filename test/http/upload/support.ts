import { mkdtemp, readdir, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type ReceivedUpload,
  type RefusedUpload,
  receiveUpload,
  UPLOAD_PACE,
  type UploadOptions,
} from "../../../src/http/shared/upload/index.ts";

export const BOUNDARY = "----boundary-of-a-test";
export const MULTIPART = `multipart/form-data; boundary=${BOUNDARY}`;

/** Returns a part with its disposition parameters as they are sent. */
export function part(disposition: string, body: string | Uint8Array): Buffer {
  const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), Buffer.from(body), Buffer.from("\r\n")]);
}

export function form(...parts: Uint8Array[]): Buffer {
  return Buffer.concat([...parts, Buffer.from(`--${BOUNDARY}--\r\n`)]);
}

export interface Reception {
  readonly result: ReceivedUpload | RefusedUpload;
  /** The received file's bytes, read before the upload was disposed of. */
  readonly bytes: Buffer | null;
}

export interface ReceivingServer extends AsyncDisposable {
  readonly port: number;
  readonly directory: string;
  /** Returns the result of the next request, in order of arrival. */
  next(): Promise<Reception>;
  filesLeft(): Promise<string[]>;
}

/** Starts a real server on a free loopback port that receives uploads into its own folder. */
export async function startReceiving(limits: Partial<Omit<UploadOptions, "directory">> = {}): Promise<ReceivingServer> {
  const directory = await mkdtemp(join(tmpdir(), "transcribe-test-"));
  const done: Reception[] = [];
  let wake = () => {};
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    reusePort: false,
    development: false,
    async fetch(request) {
      const result = await receiveUpload(request, {
        ...{ directory, maxFileBytes: 1e6, maxBodyBytes: 2e6, pace: UPLOAD_PACE, parts: { once: ["url", "language"] } },
        ...limits,
      });
      const file = result.ok ? result.file : null;
      done.push({ result, bytes: file === null ? null : Buffer.from(await Bun.file(file.path).bytes()) });
      if (result.ok) await result[Symbol.asyncDispose]();
      wake();
      return Response.json(result.ok ? { ok: true } : result, { status: result.ok ? 200 : 422 });
    },
  });
  return {
    port: server.port ?? 0,
    directory,
    async next() {
      for (;;) {
        const reception = done.shift();
        if (reception !== undefined) return reception;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    filesLeft: () => readdir(directory),
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Posts a body to the server and returns the server's result. */
export async function post(
  server: ReceivingServer,
  body: NonNullable<RequestInit["body"]>,
  headers: Record<string, string> = { "content-type": MULTIPART },
): Promise<Reception> {
  const answer = await fetch(`http://127.0.0.1:${server.port}/`, { method: "POST", body, headers });
  await answer.arrayBuffer();
  return server.next();
}

export interface RawConnection extends AsyncDisposable {
  write(bytes: Uint8Array): Promise<void>;
  readonly socket: Socket;
}

/** Opens a TCP connection to the server, closed when it is disposed of. */
export async function connectTo(server: ReceivingServer): Promise<RawConnection> {
  const socket = connect(server.port, "127.0.0.1");
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject);
    socket.once("connect", resolve);
  });
  socket.on("error", () => {});
  return {
    socket,
    write: (bytes) => new Promise((resolve) => socket.write(bytes, () => resolve())),
    async [Symbol.asyncDispose]() {
      socket.destroy();
    },
  };
}

/** Writes raw bytes to the server, then closes or resets the connection without waiting for an answer. */
export async function sendRaw(server: ReceivingServer, bytes: Uint8Array, ending: "end" | "reset"): Promise<void> {
  const { socket, write } = await connectTo(server);
  await write(bytes);
  if (ending === "end") socket.end();
  else socket.resetAndDestroy();
}
