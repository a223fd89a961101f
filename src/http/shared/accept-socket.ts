import { ApiError } from "./errors.ts";
import { contextOf } from "./request-context.ts";
import type { SocketHandler } from "./sockets.ts";

export type { Socket, SocketHandler } from "./sockets.ts";

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
