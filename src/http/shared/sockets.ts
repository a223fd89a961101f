import type { ServerWebSocket, WebSocketHandler } from "bun";
import { ApiError } from "./errors.ts";
import { contextOf } from "./request-context.ts";

/** The server's side of a WebSocket. */
export interface Socket {
  send(text: string): void;
  /** Bytes that the client has not read yet. */
  readonly unsentBytes: number;
  /** @param code see RFC 6455, 7.4 */
  close(code: number, reason: string): void;
}

/** Handles a WebSocket that a route accepted. */
export interface SocketHandler {
  /** Called first, and once. */
  open(socket: Socket): void;
  message(data: string | Uint8Array): void;
  /** The client sent a ping, which is answered, or a pong. */
  ping(): void;
  /** Called last, and once, whichever side closes; also for a request that could not become a WebSocket. */
  close(code: number): void;
}

/** Data that the server holds for a WebSocket. */
export interface SocketData {
  readonly handler: SocketHandler;
}

/** Maximum size of a message. OpenAI's clients may send 15 MiB of sound in one. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** Time after which a connection that answers no ping is closed. */
const SILENT_SECONDS = 60;

/**
 * Accepts a request as a WebSocket: the answer of its route. All checks must have been made.
 * @param protocol subprotocol that the server chose from those that the client offered; null for none
 */
export function acceptSocket(request: Request, handler: SocketHandler, protocol: string | null = null): Response {
  contextOf(request).socket = handler;
  // Without this header, Bun chooses the first protocol of the client, which may contain its key.
  const headers = { "Sec-WebSocket-Protocol": protocol ?? "" };
  return new Response(null, { status: 101, headers });
}

/** Returns whether a request asks for a WebSocket in the form of RFC 6455, 4.2.1. */
export function asksForSocket({ headers }: Request): boolean {
  const isUpgrade = headers.get("upgrade")?.toLowerCase() === "websocket";
  return isUpgrade && headers.get("sec-websocket-version") === "13" && headers.has("sec-websocket-key");
}

/** @throws {ApiError} 426 for a request that does not ask for a WebSocket (RFC 9110, 15.5.22) */
export function requireSocketRequest(request: Request): void {
  if (asksForSocket(request)) return;
  const headers = { Upgrade: "websocket", Connection: "Upgrade", "Sec-WebSocket-Version": "13" };
  throw new ApiError("bad_request", "This path is a WebSocket; send an upgrade request.", { status: 426, headers });
}

/** Returns the subprotocols that a client offers. */
export function offeredProtocols({ headers }: Request): string[] {
  const header = headers.get("sec-websocket-protocol") ?? "";
  return header
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

/** Bun's handler of all WebSockets. */
export const socketEvents: WebSocketHandler<SocketData> = {
  maxPayloadLength: MAX_MESSAGE_BYTES,
  idleTimeout: SILENT_SECONDS,
  sendPings: true,
  perMessageDeflate: false,
  open: (socket) => socket.data.handler.open(socketOf(socket)),
  message: (socket, data) => socket.data.handler.message(data),
  ping: (socket) => socket.data.handler.ping(),
  pong: (socket) => socket.data.handler.ping(),
  close: (socket, code) => socket.data.handler.close(code),
};

function socketOf(socket: ServerWebSocket<SocketData>): Socket {
  return {
    send: (text) => void socket.send(text),
    get unsentBytes() {
      return socket.getBufferedAmount();
    },
    close: (code, reason) => socket.close(code, reason),
  };
}
