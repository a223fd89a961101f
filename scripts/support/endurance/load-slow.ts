import { readFileSync } from "node:fs";
import { connect } from "node:net";
import type { TestClient } from "../../../test/support/client.ts";

/** A client that sends, or takes, a byte at a time. */
export interface SlowClient extends Disposable {
  /** The port of its end of the connection. */
  readonly port: number;
}

/** How many of these the server still holds a connection to, as the kernel tells (proc(5), net/tcp). */
export function countConnected(clients: readonly SlowClient[], { baseUrl }: TestClient): number {
  const server = Number(new URL(baseUrl).port);
  const ports = new Set(clients.map(({ port }) => port));
  const lines = readFileSync("/proc/net/tcp", "utf8").split("\n").slice(1);
  return lines.filter((line) => {
    const [, local, remote, state] = line.trim().split(/\s+/);
    return portOf(local) === server && ports.has(portOf(remote)) && state === established;
  }).length;
}

const established = "01";

function portOf(address: string | undefined): number {
  return Number.parseInt(address?.split(":")[1] ?? "", 16);
}

export type Slowness = "head" | "body" | "body of nobody" | "answer";

/** Connects a client that is slow with one thing and goes on with it until it is cut off. */
export function slowClient({ baseUrl, key }: TestClient, slowness: Slowness, everyMilliseconds = 1000): SlowClient {
  const { hostname, port, pathname } = new URL(baseUrl);
  const [now, later] = bytesOf(slowness, pathname, key);
  const socket = connect(Number(port), hostname);
  let at = 0;
  let localPort = 0;
  socket.on("error", () => {});
  socket.on("connect", () => {
    localPort = socket.localPort ?? 0;
    socket.write(now);
  });
  if (slowness === "answer") socket.pause();
  else socket.on("data", () => {});
  const timer = setInterval(() => {
    if (slowness === "answer") socket.read(1);
    else socket.write(later.charAt(at++ % later.length));
  }, everyMilliseconds);
  const end = () => {
    clearInterval(timer);
    socket.destroy();
  };
  socket.on("close", end);
  return {
    get port() {
      return localPort;
    },
    [Symbol.dispose]: end,
  };
}

function bytesOf(slowness: Slowness, base: string, key: string): [now: string, later: string] {
  const authorization = `Authorization: Bearer ${slowness === "body of nobody" ? "nobody" : key}`;
  switch (slowness) {
    case "head":
      return [
        "",
        `GET ${base}/languages HTTP/1.1\r\nHost: localhost\r\n${authorization}\r\nX-Filler: ${"x".repeat(4000)}`,
      ];
    case "body":
    case "body of nobody": {
      const lines = [
        `POST ${base}/transcriptions HTTP/1.1`,
        "Host: localhost",
        authorization,
        "Content-Type: multipart/form-data; boundary=x",
        "Content-Length: 1000000",
      ];
      const part = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.mp3"\r\n\r\n';
      return [`${lines.join("\r\n")}\r\n\r\n${part}`, "x"];
    }
    case "answer":
      return [`GET ${base}/languages HTTP/1.1\r\nHost: localhost\r\n${authorization}\r\n\r\n`.repeat(20), ""];
  }
}
