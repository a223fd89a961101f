import { describe, expect, test } from "bun:test";
import type { LiveMessage } from "../../../../src/console/contract/index.ts";
import { type Closing, LiveConnection } from "../../../../src/console/page/live/live-connection.ts";
import { ManualClock, ScriptedSocket } from "./scripted-socket.ts";

/** A connection with ten samples a second, so that a frame of one sample lasts a tenth of a second. */
function connect({ resume = null, isSignedIn = true }: { resume?: string | null; isSignedIn?: boolean | null } = {}) {
  const clock = new ManualClock();
  const sockets: ScriptedSocket[] = [];
  const links: string[] = [];
  const closings: Closing[] = [];
  const messages: LiveMessage[] = [];
  let next = 0;
  const connection = new LiveConnection({
    ...{ sampleRate: 10, resume, clock, isSignedIn: async () => isSignedIn },
    open(id) {
      const socket = new ScriptedSocket(id);
      sockets.push(socket);
      return socket;
    },
    onMessage: (message) => messages.push(message),
    onLink: (link) => links.push(link),
    onClosed: (closing) => closings.push(closing),
  });
  return {
    ...{ clock, sockets, links, closings, messages, connection },
    get socket() {
      const last = sockets.at(-1);
      if (last === undefined) throw new Error("no socket was opened");
      return last;
    },
    /** Records frames of one sample each, which count upwards. */
    record(count: number) {
      for (let index = 0; index < count; index++) connection.add(Int16Array.of(next++));
    },
    /** Lets the answers of the server arrive. */
    settle: () => Bun.sleep(0),
  };
}

const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

describe("the connection of a live session", () => {
  test("sends the sound that was recorded before it was open, then each frame at once", () => {
    const page = connect();
    page.record(3);
    expect(page.socket.samples).toEqual([]);
    page.socket.begin("one");
    expect(page.socket.samples).toEqual([0, 1, 2]);
    page.record(1);
    expect(page.socket.samples).toEqual([0, 1, 2, 3]);
    expect([page.links, page.connection.seconds]).toEqual([["connected"], 0.4]);
  });

  test("connects again when it is lost, and sends again what the server has not received", () => {
    const page = connect();
    page.socket.begin("one");
    page.record(5);
    page.socket.lose();
    page.record(2);
    expect(page.sockets.length).toBe(1);
    page.clock.pass(500);
    expect(page.socket.resume).toBe("one");
    page.socket.begin("one", 0.3);
    expect(page.socket.samples).toEqual(numbers(3, 7));
    expect([page.links, page.closings]).toEqual([["connected", "lost", "connected"], []]);
  });

  test("waits longer between attempts, and tries at once when the browser is online again", async () => {
    const page = connect();
    page.socket.begin("one");
    page.socket.lose();
    const attempts: number[] = [];
    for (let tenths = 0; tenths < 200; tenths++) {
      page.clock.pass(100);
      if (page.socket.isClosed) continue;
      attempts.push(page.clock.now());
      page.socket.lose();
      await page.settle();
    }
    expect(attempts).toEqual([500, 1500, 3500, 7500, 12_500, 17_500]);
    page.connection.retryNow();
    page.socket.begin("one");
    expect(page.links.at(-1)).toBe("connected");
  });

  test("is given up at once when the browser is offline", () => {
    const page = connect();
    page.socket.begin("one");
    page.connection.drop();
    expect([page.links.at(-1), page.socket.isClosed]).toEqual(["lost", true]);
  });

  test("counts as lost when nothing leaves the socket for ten seconds, and not when it is slow", () => {
    const page = connect();
    page.socket.begin("one");
    for (let tenths = 0; tenths < 600; tenths++) {
      page.record(1);
      page.socket.bufferedAmount = tenths % 2 === 0 ? 30 : 28;
      page.clock.pass(100);
    }
    expect(page.sockets.length).toBe(1);
    page.socket.bufferedAmount = 40;
    page.clock.pass(11_000);
    expect([page.links.at(-1), page.sockets.length]).toEqual(["lost", 2]);
  });

  test("holds sound back while the socket is full, and sends it bit by bit afterwards", () => {
    const page = connect();
    page.socket.begin("one");
    page.socket.bufferedAmount = 40;
    page.record(20);
    expect([page.socket.samples, page.connection.waitingSeconds]).toEqual([[], 2]);
    page.socket.bufferedAmount = 0;
    page.clock.pass(100);
    expect(page.socket.samples.length).toBe(5);
    page.clock.pass(300);
    expect(page.socket.samples).toEqual(numbers(0, 20));
  });

  test("ends the session after all its sound, also if it was lost meanwhile", () => {
    const page = connect();
    page.socket.begin("one");
    page.socket.lose();
    page.record(12);
    page.connection.end();
    page.record(1);
    page.clock.pass(500);
    page.socket.begin("one");
    expect(page.socket.messages).toEqual([]);
    page.clock.pass(1000);
    expect([page.socket.samples, page.socket.messages]).toEqual([numbers(0, 12), [{ type: "end" }]]);
    page.socket.receive({ type: "ended", reason: "client", recording_id: "r" });
    expect([page.closings, page.socket.isClosed]).toEqual([[{ kind: "ended" }], true]);
  });

  test("survives a server that stops", () => {
    const page = connect();
    page.socket.begin("one");
    page.socket.receive({ type: "ended", reason: "stopping", recording_id: null });
    page.socket.lose();
    expect([page.links.at(-1), page.closings]).toEqual(["lost", []]);
  });

  test("gives up after ten minutes", async () => {
    const page = connect({ isSignedIn: null });
    page.socket.begin("one");
    page.socket.lose();
    for (let seconds = 0; seconds < 700 && page.closings.length === 0; seconds++) {
      page.clock.pass(1000);
      if (page.socket.isClosed) continue;
      page.socket.lose();
      await page.settle();
    }
    expect(page.closings).toEqual([{ kind: "unreachable" }]);
    expect(page.clock.now()).toBeGreaterThan(600_000);
  });

  test("continues a session of before at the end of the sound that the server has", () => {
    const page = connect({ resume: "one" });
    page.record(2);
    page.socket.begin("one", 60);
    expect([page.socket.resume, page.socket.samples, page.connection.seconds]).toEqual(["one", [0, 1], 60.2]);
  });

  test.each<[string, Parameters<typeof connect>[0], string, Closing | null]>([
    ["a new session", {}, "service_unavailable", { kind: "refused", message: "why" }],
    ["a lost session whose connection the server still has", { resume: "one" }, "concurrency_limit", null],
    ["a lost session that has ended", { resume: "one" }, "not_found", { kind: "expired" }],
    ["a lost session without access", { resume: "one" }, "not_allowed", { kind: "refused", message: "why" }],
  ])("learns why the server refuses it: %s", (_, options, code, closing) => {
    const page = connect(options);
    page.socket.receive({ type: "refused", code, message: "why" });
    page.socket.lose();
    expect(page.closings).toEqual(closing === null ? [] : [closing]);
  });

  test.each<[string, Parameters<typeof connect>[0], Closing | null]>([
    ["the person is signed out", { isSignedIn: false }, { kind: "signed_out" }],
    ["the person is signed out during a session", { isSignedIn: false, resume: "one" }, { kind: "signed_out" }],
    ["nothing forwards WebSockets", {}, { kind: "unreachable" }],
    ["the server restarts", { isSignedIn: null, resume: "one" }, null],
  ])("asks the server why it was refused without a reason: %s", async (_, options, closing) => {
    const page = connect(options);
    page.socket.lose();
    await page.settle();
    expect(page.closings).toEqual(closing === null ? [] : [closing]);
  });

  test("is silent once it is closed", () => {
    const page = connect();
    page.socket.begin("one");
    page.connection.close();
    page.record(3);
    page.clock.pass(60_000);
    expect([page.socket.samples, page.sockets.length, page.socket.isClosed]).toEqual([[], 1, true]);
  });
});
