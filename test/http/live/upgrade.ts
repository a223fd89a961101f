import type { ApiServer } from "../../support/http.ts";

/** Answer to a request that asks for a WebSocket. */
interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The body, which is JSON; undefined for none. */
  readonly body: unknown;
}

/** Sends a request that asks for a WebSocket, and returns its answer. `null` leaves out a header. */
export async function upgrade(
  server: ApiServer,
  path: string,
  headers: Readonly<Record<string, string | null>> = {},
  method = "GET",
): Promise<Answer> {
  const sent = {
    ...{ Host: "localhost", Connection: "Upgrade", Upgrade: "websocket" },
    ...{ "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": btoa("0123456789abcdef") },
    ...headers,
  };
  const lines = Object.entries(sent).flatMap(([name, value]) => (value === null ? [] : [`${name}: ${value}`]));
  const received = await server.raw([`${method} ${path} HTTP/1.1`, ...lines, "", ""].join("\r\n"));
  const [head = "", body = ""] = received.split("\r\n\r\n");
  const [first = "", ...rest] = head.split("\r\n");
  const isJson = body.startsWith("{");
  return {
    status: Number(first.split(" ")[1]),
    headers: new Headers(
      rest.map((line): [string, string] => {
        const colon = line.indexOf(":");
        return [line.slice(0, colon), line.slice(colon + 1).trim()];
      }),
    ),
    body: isJson ? JSON.parse(body) : undefined,
  };
}
