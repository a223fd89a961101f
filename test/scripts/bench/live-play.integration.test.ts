import { afterAll, describe, expect, test } from "bun:test";
import type { ServerWebSocket } from "bun";
import { play } from "../../../tools/bench/live/play.ts";
import { ownProtocol, whisperLiveProtocol } from "../../../tools/bench/live/protocols.ts";

/** Half a second of sound. */
const samples = new Int16Array(8_000);
const session = {
  ...{ type: "session", id: "00000000-0000-7000-8000-000000000000", sample_rate: 16_000, encoding: "pcm16" },
  ...{ language: null, keep: false, received_seconds: 0, segments: [] },
};
const partial = (text: string) => ({ type: "partial", turn: "a", text, words: [] });
const final = { number: 0, start: 0, end: 1, text: "We all", speaker: null, words: [] };
const ended = { type: "ended", reason: "client", recording_id: null };

type Data = { bytes: number };
type Script = Partial<Record<"open" | "half" | "end" | "hello", (socket: ServerWebSocket<Data>) => void>>;

const servers: { stop(closesConnections: boolean): Promise<void> }[] = [];
afterAll(async () => {
  for (const server of servers) await server.stop(true);
});

/** Starts a server that plays a part: when a session opens, after half of its sound, and when the client ends it. */
function serve(script: Script): { readonly port: number; readonly sent: Data } {
  const sent = { bytes: 0 };
  const server = Bun.serve<Data>({
    port: 0,
    fetch(request, own) {
      return own.upgrade(request, { data: sent }) ? undefined : new Response(null, { status: 400 });
    },
    websocket: {
      open: (socket) => script.open?.(socket),
      message(socket, message) {
        if (typeof message === "string") {
          if (message.includes('"uid"')) script.hello?.(socket);
          else script.end?.(socket);
          return;
        }
        const before = sent.bytes;
        sent.bytes += message.byteLength;
        if (before < samples.byteLength / 2 && sent.bytes >= samples.byteLength / 2) script.half?.(socket);
      },
    },
  });
  servers.push(server);
  return { port: server.port ?? 0, sent };
}

const say = (socket: ServerWebSocket<Data>, ...messages: readonly unknown[]) => {
  for (const message of messages) socket.send(JSON.stringify(message));
};
const ours = ({ port }: { port: number }) => ownProtocol(`ws://127.0.0.1:${port}`, "key", null);

describe("a played session", () => {
  test("gets all sound as it would be recorded, and has what it showed with the time", async () => {
    const server = serve({
      open: (socket) => say(socket, session),
      half: (socket) => say(socket, partial("we all")),
      end(socket) {
        say(socket, { type: "final", turn: "a", segment: final }, partial("go"), ended);
        socket.close(1000);
      },
    });
    const { displays, endedAfter } = await play(ours(server), samples);
    expect(server.sent.bytes).toBe(samples.byteLength);
    expect(displays.map((display) => [display.final, display.partial])).toEqual([
      ["", "we all"],
      // The final words and the rest of the partial ones come at the same moment.
      ["We all", "go"],
    ]);
    const [first, last] = displays.map(({ at }) => at);
    expect(first).toBeGreaterThan(0.2);
    expect(last).toBeGreaterThan(0.45);
    expect(endedAfter).toBeGreaterThanOrEqual(0);
  });

  test("ends early at a signal, and repeats its sound until then", async () => {
    const stop = new AbortController();
    const server = serve({
      open: (socket) => say(socket, session),
      half: () => setTimeout(() => stop.abort(), 600),
      end: (socket) => say(socket, ended),
    });
    const { endedAfter } = await play(ours(server), samples, { signal: stop.signal, repeats: true });
    expect(endedAfter).not.toBeNull();
    expect(server.sent.bytes).toBeGreaterThan(samples.byteLength);
  });

  test.each([
    ["closed before its end", { open: (socket) => say(socket, session), half: (socket) => socket.close(1008, "no") }],
    ["that answers nonsense", { open: (socket) => say(socket, { type: "nonsense" }) }],
  ] satisfies readonly (readonly [string, Script])[])("%s is an error", async (_, script) => {
    await expect(play(ours(serve(script)), samples)).rejects.toThrow();
  });

  test("of WhisperLive keeps its last words when it is closed at its end", async () => {
    const segment = { start: "0.000", end: "0.400", text: "We all", completed: false };
    const server = serve({
      hello: (socket) => say(socket, { uid: "bench", message: "SERVER_READY" }),
      half: (socket) => say(socket, { uid: "bench", segments: [segment] }),
      end: (socket) => socket.close(),
    });
    const { displays } = await play({ ...whisperLiveProtocol(server.port, null), tailSeconds: 0.1 }, samples);
    expect(displays.at(-1)).toMatchObject({ final: " We all", partial: "" });
  });
});
