/** The part of a WebSocket that a session uses. Browsers, Node 22, Bun, Deno and the package ws have it. */
export interface LiveSocket {
  readonly bufferedAmount: number;
  send(data: string | Uint8Array<ArrayBuffer>): void;
  close(code?: number): void;
  addEventListener(type: "open" | "error", listener: () => void): void;
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(type: "close", listener: (event: { readonly code: number; readonly reason: string }) => void): void;
}

/** A class of WebSockets. */
export type LiveSocketClass = new (url: string, protocols: string[]) => LiveSocket;
