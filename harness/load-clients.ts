import { readdirSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import type { TestClient } from "./client.ts";

export interface LoadTarget {
  readonly dataDirectory: string;
}

export function filesIn({ dataDirectory }: LoadTarget, folder: "incoming" | "uploads"): number {
  return readdirSync(join(dataDirectory, folder)).length;
}

/** Waits until a condition is true, for a minute by default. @returns whether it became true */
export async function becomesTrue(isTrue: () => boolean | Promise<boolean>, seconds = 60): Promise<boolean> {
  const giveUpAt = performance.now() + seconds * 1000;
  while (!(await isTrue())) {
    if (performance.now() > giveUpAt) return false;
    await Bun.sleep(50);
  }
  return true;
}

/** Counts equal values, e.g. `50 × 201, 50 × 409`. */
export function tally(values: readonly (string | number)[]): string {
  const groups = Map.groupBy(values.map(String).sort(), (value) => value);
  return [...groups].map(([value, { length }]) => `${length} × ${value}`).join(", ");
}

/**
 * Sends a recording `each` times at the same moment with each client.
 * @returns the statuses by account, in the order of `clients`, and the number of files that belong to no recording
 */
export async function createAtOnce(target: LoadTarget, clients: readonly TestClient[], each: number, path: string) {
  const uploadsBefore = filesIn(target, "uploads");
  const statuses = await Promise.all(
    clients.map((client) => Promise.all(Array.from({ length: each }, async () => (await client.send(path)).status))),
  );
  const taken = statuses.flat().filter((status) => status === 201).length;
  return { statuses, stray: filesIn(target, "incoming") + filesIn(target, "uploads") - uploadsBefore - taken };
}

export interface PollOptions {
  readonly clients: number;
  readonly everySeconds: number;
  /** Paths that a client requests each time, one after another. */
  readonly paths: readonly string[];
  /** Polling continues until this returns true. */
  readonly isOver: () => boolean | Promise<boolean>;
}

/**
 * Polls with several clients, whose requests are spread evenly over the interval.
 * @returns the durations of all GETs, and the statuses other than 200 and errors
 */
export async function poll(client: TestClient, options: PollOptions) {
  const { clients, everySeconds, paths, isOver } = options;
  const milliseconds: number[] = [];
  const failures: string[] = [];
  let over = false;
  const ask = async (path: string) => {
    const since = performance.now();
    try {
      const response = await client.fetch(path);
      await response.arrayBuffer();
      if (response.status !== 200) failures.push(`${response.status}`);
    } catch (error) {
      failures.push(error instanceof Error ? error.name : "an error");
    }
    milliseconds.push(performance.now() - since);
  };
  const one = async (index: number) => {
    let next = performance.now() + (index / clients) * everySeconds * 1000;
    while (!over) {
      await Bun.sleep(Math.max(0, next - performance.now()));
      if (over) return;
      for (const path of paths) await ask(path);
      next += everySeconds * 1000;
    }
  };
  const polling = Promise.all(Array.from({ length: clients }, (_, index) => one(index)));
  while (!(await isOver())) await Bun.sleep(500);
  over = true;
  await polling;
  return { milliseconds, failures };
}

export interface Cut {
  /** Share of the request's bytes that is sent. */
  readonly share: number;
  readonly ending: "end" | "reset";
  readonly idempotencyKey?: string;
}

/** The beginning of a form whose file follows. */
const PART = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.mp3"\r\n\r\n';

/** Returns the head of a request. @param more further lines */
function headOf(request: string, key: string, more: readonly string[] = []): string {
  const lines = [`${request} HTTP/1.1`, "Host: localhost", `Authorization: Bearer ${key}`, ...more];
  return `${lines.join("\r\n")}\r\n`;
}

function formLines(length: number): string[] {
  return ["Content-Type: multipart/form-data; boundary=x", `Content-Length: ${length}`];
}

/** Sends a part of a create request and disconnects; resolves when the connection is closed. */
export async function cutUpload({ baseUrl, key }: TestClient, file: Uint8Array, cut: Cut): Promise<void> {
  const { hostname, port, pathname } = new URL(baseUrl);
  const body = Buffer.concat([Buffer.from(PART), file, Buffer.from("\r\n--x--\r\n")]);
  const idempotency = cut.idempotencyKey === undefined ? [] : [`Idempotency-Key: ${cut.idempotencyKey}`];
  const head = headOf(`POST ${pathname}/transcriptions`, key, [...formLines(body.length), ...idempotency]);
  const request = Buffer.concat([Buffer.from(`${head}\r\n`), body]);
  const closed = Promise.withResolvers<void>();
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  socket.on("close", () => closed.resolve());
  socket.resume();
  // At most all but the last byte, because a complete request may be answered with 201.
  const sent = request.subarray(0, Math.floor(cut.share * (request.length - 1)));
  socket.write(sent, () => {
    if (cut.ending === "end") socket.end();
    else socket.resetAndDestroy();
  });
  await closed.promise;
}

/** A client that sends or receives one byte at a time. */
export interface SlowClient extends Disposable {
  /** Local port of the connection. */
  readonly port: number;
}

/** State of an established connection in net/tcp. */
const ESTABLISHED = "01";

/** Returns how many clients are still connected to the server, according to the kernel (proc(5), net/tcp). */
export function countConnected(clients: readonly SlowClient[], { baseUrl }: TestClient): number {
  const server = Number(new URL(baseUrl).port);
  const ports = new Set(clients.map(({ port }) => port));
  const portOf = (address = "") => Number.parseInt(address.split(":")[1] ?? "", 16);
  const lines = readFileSync("/proc/net/tcp", "utf8").split("\n").slice(1);
  return lines.filter((line) => {
    const [, local, remote, state] = line.trim().split(/\s+/);
    return portOf(local) === server && ports.has(portOf(remote)) && state === ESTABLISHED;
  }).length;
}

export const SLOWNESSES = ["head", "body", "unauthenticated body", "answer"] as const;
export type Slowness = (typeof SLOWNESSES)[number];

/** Connects a client that is slow in one respect, until the server disconnects it. */
export function slowClient({ baseUrl, key }: TestClient, slowness: Slowness, everyMilliseconds = 1000): SlowClient {
  const { hostname, port, pathname } = new URL(baseUrl);
  const [first, repeated] = bytesOf(slowness, pathname, slowness === "unauthenticated body" ? "nobody" : key);
  const socket = connect(Number(port), hostname);
  let at = 0;
  let localPort = 0;
  socket.on("error", () => {});
  socket.on("connect", () => {
    localPort = socket.localPort ?? 0;
    socket.write(first);
  });
  if (slowness === "answer") socket.pause();
  else socket.on("data", () => {});
  const timer = setInterval(() => {
    if (slowness === "answer") socket.read(1);
    else socket.write(repeated.charAt(at++ % repeated.length));
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

function bytesOf(slowness: Slowness, base: string, key: string): [first: string, repeated: string] {
  const get = headOf(`GET ${base}/languages`, key);
  if (slowness === "head") return ["", `${get}X-Filler: ${"x".repeat(4000)}`];
  if (slowness === "answer") return [`${get}\r\n`.repeat(20), ""];
  return [`${headOf(`POST ${base}/transcriptions`, key, formLines(1_000_000))}\r\n${PART}`, "x"];
}
