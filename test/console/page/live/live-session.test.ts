import { describe, expect, test } from "bun:test";
import { LiveSession, type LiveState } from "../../../../src/console/page/live/live-session.ts";
import { ManualClock, ScriptedSocket } from "./scripted-socket.ts";

/** A session of a source with ten samples a second, so that a frame of one sample lasts a tenth of a second. */
function open(stored: { id: string; names: Record<string, string> } | null = null) {
  const calls: string[] = [];
  const states: LiveState[] = [];
  const sockets: ScriptedSocket[] = [];
  const from: number[] = [];
  const clock = new ManualClock();
  const session = new LiveSession({
    source: {
      sampleRate: 10,
      pause: () => void calls.push("pause"),
      resume: async () => void calls.push("resume"),
      wake: () => void calls.push("wake"),
      stop: () => void calls.push("stop"),
    },
    ...{ stored, clock, keep: true, isSignedIn: async () => true, onState: (state) => states.push(state) },
    open(resume, nextSegment) {
      const socket = new ScriptedSocket(resume);
      sockets.push(socket);
      from.push(nextSegment);
      return socket;
    },
  });
  return {
    ...{ session, calls, states, clock, from },
    get socket() {
      const last = sockets.at(-1);
      if (last === undefined) throw new Error("no socket was opened");
      return last;
    },
    record(frames: number, level = 0.5) {
      for (let index = 0; index < frames; index++) session.frame(Int16Array.of(1), level);
    },
    reconnect() {
      this.socket.lose();
      clock.pass(500);
      this.socket.begin("one", 0);
    },
  };
}

const settled = { number: 0, start: 0, end: 1, text: "Hello.", speaker: "S1", words: [] };

describe("a live session of the page", () => {
  test("shows the seconds of its sound, and changes with each second alone", () => {
    const page = open();
    page.socket.begin("one");
    const before = page.states.length;
    page.record(25);
    expect([page.session.state.seconds, page.states.length - before]).toEqual([2, 2]);
  });

  test("reports the level of each frame, and none while it is paused", () => {
    const page = open();
    const levels: number[] = [];
    page.session.onLevel = (level) => levels.push(level);
    page.record(2);
    page.session.pause();
    expect([levels, page.calls, page.session.state.isPaused]).toEqual([[0.5, 0.5, 0], ["pause"], true]);
  });

  test("warns of a source that is silent for five seconds, until it has sound", () => {
    const page = open();
    page.record(49, 0);
    expect(page.session.state.isMute).toBe(false);
    page.record(1, 0);
    expect(page.session.state.isMute).toBe(true);
    page.record(1);
    expect(page.session.state.isMute).toBe(false);
  });

  test("is paused when the source is lost, and asks for another one when it is resumed", async () => {
    const page = open();
    page.session.lost();
    expect([page.session.state.isPaused, page.session.isSourceLost]).toEqual([true, true]);
    await page.session.resume();
    expect([page.session.state.isPaused, page.session.isSourceLost, page.calls]).toEqual([
      ...[false, false],
      ["pause", "resume"],
    ]);
  });

  test("asks only for the words that it lacks when it connects again, and repeats the names of speakers", () => {
    const page = open();
    page.socket.begin("one");
    page.socket.receive({ type: "final", turn: "a", segment: settled });
    page.session.name("S1", "Anna");
    page.reconnect();
    expect([page.from, page.socket.messages]).toEqual([[0, 1], [{ type: "speaker", speaker: "S1", name: "Anna" }]]);
    expect(page.session.state.text.names).toEqual({ S1: "Anna" });
  });

  test("continues a stored session with its names", () => {
    const page = open({ id: "one", names: { S2: "Bob" } });
    page.socket.begin("one", 60);
    expect([page.socket.resume, page.session.state.id]).toEqual(["one", "one"]);
    expect(page.socket.messages).toEqual([{ type: "speaker", speaker: "S2", name: "Bob" }]);
    page.record(1);
    expect(page.session.state.seconds).toBe(60);
  });

  test("stops the source at its end, and shows words that come afterwards", () => {
    const page = open();
    page.socket.begin("one");
    page.session.end();
    expect(page.session.state.phase).toBe("ending");
    expect(page.calls).toEqual(["stop"]);
    expect(page.socket.messages).toEqual([{ type: "end" }]);
    page.socket.receive({ type: "final", turn: "a", segment: settled });
    page.socket.receive({ type: "ended", reason: "client", recording_id: "r" });
    const { phase, ended, text } = page.session.state;
    expect([phase, ended, text.next]).toEqual(["ended", { type: "ended", reason: "client", recording_id: "r" }, 1]);
  });

  test("tells why it ended without a last message", () => {
    const page = open();
    page.socket.receive({ type: "refused", code: "service_unavailable", message: "Full." });
    page.socket.lose();
    expect(page.session.state).toMatchObject({
      phase: "ended",
      id: null,
      ended: { kind: "refused", message: "Full." },
    });
    expect(page.calls).toEqual(["stop"]);
  });

  test("shows the server's message about a call that was refused, and goes on", () => {
    const page = open();
    page.socket.begin("one");
    page.socket.receive({ type: "error", error: "invalid_message", message: "A name has visible characters." });
    expect(page.session.state).toMatchObject({ phase: "running", notice: "A name has visible characters." });
  });

  test("ends on the server, too, when the person signs out", () => {
    const page = open();
    page.socket.begin("one");
    page.session.close();
    expect([page.socket.messages, page.socket.isClosed, page.calls]).toEqual([[{ type: "end" }], true, ["stop"]]);
  });
});
