import type { ServerWebSocket, WebSocketHandler } from "bun";

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

/** Returns Bun's handler of all WebSockets. @param silentSeconds replaces the usual time, for tests; 8 or more */
export function socketEvents(silentSeconds = SILENT_SECONDS): WebSocketHandler<SocketData> {
  return {
    maxPayloadLength: MAX_MESSAGE_BYTES,
    idleTimeout: silentSeconds,
    sendPings: true,
    perMessageDeflate: false,
    open: (socket) => socket.data.handler.open(socketOf(socket)),
    message: (socket, data) => socket.data.handler.message(data),
    ping: (socket) => socket.data.handler.ping(),
    pong: (socket) => socket.data.handler.ping(),
    close: (socket, code) => socket.data.handler.close(code),
  };
}

function socketOf(socket: ServerWebSocket<SocketData>): Socket {
  return {
    send: (text) => void socket.send(text),
    get unsentBytes() {
      return socket.getBufferedAmount();
    },
    close: (code, reason) => socket.close(code, reason),
  };
}
