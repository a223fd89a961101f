import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { LiveError, type LiveEvent, liveTextOf } from "../../src/live/index.ts";
import { addReplacement } from "../../src/replacements/index.ts";
import { automatic, LiveServer, manual } from "./live-server.ts";
import { sound, words } from "./scripted-engine.ts";

let server: LiveServer;
beforeEach(() => {
  server = new LiveServer();
});
afterEach(async () => await server[Symbol.asyncDispose]());

const refusal = (call: () => unknown) => {
  try {
    call();
  } catch (error) {
    if (error instanceof LiveError) return error.refusal;
    throw error;
  }
  return null;
};
/** Waits until the sound so far causes no further operation. */
async function settled({ engine }: LiveServer): Promise<void> {
  for (let before = -1; before < engine.calls.length; ) {
    before = engine.calls.length;
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
}
/** Returns the types of events, without those of words. */
const kinds = (events: readonly LiveEvent[]) =>
  events.map(({ type }) => type).filter((type) => !["partial", "final", "speakers"].includes(type));

describe("a session whose turns end by silence", () => {
  test("reports each turn with its words, in order, and becomes a recording", async () => {
    const { session, events } = server.open();
    session.write(sound([0, 1], [2000, 3], [10, 1]));
    await events.received("turnCompleted");
    session.write(sound([2000, 2], [0, 1]));
    await events.received("turnCompleted", 2);
    await session.end();
    const ofTurn: LiveEvent["type"][] = ["speechStarted", "speechStopped", "committed", "turnCompleted"];
    expect(kinds(events.all)).toEqual([...ofTurn, ...ofTurn, "ended"]);
    const [first, second] = events.of("turnCompleted");
    expect([first?.text, second?.text]).toEqual([words(1, 4), words(5, 7)]);
    expect(first?.language).toBe("en");
    expect(first?.seconds).toBeCloseTo(0.3 + 3 + 0.4, 1);
    expect(events.of("speechStarted")[0]?.seconds).toBeCloseTo(0.7, 1);
    expect(events.of("committed").map(({ previous }) => previous)).toEqual([null, first?.turn ?? ""]);
    const [ended] = events.of("ended");
    expect(ended).toEqual({ type: "ended", reason: "client", recordingId: server.queued[0] ?? "" });
  });

  test("reports words before the turn is over, and final ones never again", async () => {
    const { session, events } = server.open();
    for (let part = 1; part <= 12; part++) {
      session.write(sound([2000, 0.5]));
      while (server.engine.of("detectSpeech").length < part) await Bun.sleep(0);
    }
    await events.received("partial");
    await events.received("final");
    session.write(sound([0, 1]));
    await events.received("turnCompleted");
    expect(events.text).toBe(words(0, 6));
    const numbers = events.of("final").map(({ segment }) => segment.number);
    expect(numbers).toEqual(numbers.map((_, at) => at));
    const ends = events.of("final").map(({ segment }) => segment.endSeconds);
    expect(ends).toEqual(ends.toSorted((a, b) => a - b));
    expect(events.of("partial").every(({ text, words: all }) => text.split(" ").length === all.length)).toBe(true);
  });

  test("has passes that begin with the final words", async () => {
    const { session, events } = server.open();
    session.write(sound([2000, 16], [0, 1]));
    await events.received("turnCompleted");
    expect(events.text).toBe(words(0, 16));
    const passes = server.engine.of("transcribeLive");
    const starts = passes.map(({ span }) => span.startSeconds);
    expect(passes.at(-1)?.known?.length).toBeGreaterThan(4);
    // A long pass begins with one of the known words.
    expect(Math.max(...starts)).toBeGreaterThan(2);
    for (const { span, known = [] } of passes) {
      expect(known.every(({ startSeconds }) => startSeconds >= span.startSeconds)).toBe(true);
    }
  });

  test("has passes that begin with the words of the turn before, without words twice", async () => {
    const { session, events } = server.open();
    session.write(sound([2000, 2], [0, 1]));
    await events.received("turnCompleted");
    session.write(sound([2000, 2], [0, 3], [2000, 2], [0, 1]));
    await events.received("turnCompleted", 3);
    const texts = events.of("turnCompleted").map(({ text }) => text);
    expect(texts).toEqual([words(0, 2), words(3, 5), words(8, 10)]);
    const passes = server.engine.of("transcribeLive");
    const knownIn = (from: number, to: number) =>
      passes.filter(({ span }) => span.endSeconds > from && span.endSeconds <= to).map(({ known = [] }) => known);
    expect(knownIn(3.5, 6).every((known) => known[0]?.text === " w0")).toBe(true);
    // After a long pause, they begin with the turn.
    expect(knownIn(8.5, 11)[0]).toEqual([]);
  });

  test("has no pass over sound that was cleared", async () => {
    const { session, events } = server.open();
    session.write(sound([2000, 2], [0, 0.8]));
    await events.received("turnCompleted");
    session.write(sound([4000, 0.5]));
    await events.received("speechStarted", 2);
    session.clear();
    session.write(sound([2000, 1.7], [0, 1]));
    await events.received("turnCompleted", 2);
    const later = server.engine.of("transcribeLive").filter(({ span }) => span.endSeconds > 3.5);
    expect(later.length).toBeGreaterThan(0);
    for (const { span } of later) expect(span.startSeconds).toBeGreaterThanOrEqual(3.2);
  });

  test("loses no sentence that a pass omits after another one, and ends a segment with each", async () => {
    server.engine.sentenceEnds = [3, 4, 9];
    server.engine.omitsNextSentence = true;
    const { session, events } = server.open();
    session.write(sound([2000, 7], [0, 1]));
    await events.received("turnCompleted");
    expect(events.text).toBe("w0 w1 w2 w3. W4. W5 w6 w7 w8 w9. W10 w11 w12 w13");
    for (const { segment } of events.of("final")) expect(segment.text).not.toContain(". ");
  });

  test("writes final words as the account always writes them, also in the text of the turn, and recognizes on without", async () => {
    const by = { actor: "operator", now: server.time };
    for (const [source, target] of [
      ["w0", "Zero"],
      ["w2 w3", "Kubernetes"],
    ] as const) {
      addReplacement(server.store, server.account(), { source, target, matchesCase: false }, by);
    }
    server.engine.sentenceEnds = [1];
    const { session, events } = server.open();
    session.write(sound([2000, 16], [0, 1]));
    await events.received("turnCompleted");
    const text = words(0, 16).replace("w0 w1 w2 w3", "Zero w1. Kubernetes");
    expect(events.of("turnCompleted")[0]?.text).toBe(text);
    expect(events.text).toBe(text);
    const found = events.of("final").flatMap(({ segment }) => segment.words);
    expect(found.map((word) => word.text).join("")).toBe(` ${text}`);
    const written = found.find((word) => word.text === " Kubernetes");
    expect(written).toMatchObject({ startSeconds: 1.05, endSeconds: 1.95, probability: 1 });
    const known = server.engine.of("transcribeLive").flatMap((pass) => pass.known ?? []);
    expect(known.map((word) => word.text)).not.toContain(" Kubernetes");
    expect(known.length).toBeGreaterThan(0);
    await session.end();
    const stored = liveTextOf(server.store, server.queued[0] ?? "");
    expect(stored?.segments.map((segment) => segment.text).join(" ")).toBe(text);
  });

  test("cuts a turn that gets too long, and loses no word", async () => {
    const { session, events } = server.open();
    session.write(sound([2000, 21.7], [0, 0.3], [2000, 18], [0, 1]));
    await events.received("turnCompleted", 2);
    const texts = events.of("turnCompleted").map(({ text }) => text);
    expect(texts).toEqual([words(0, 22), words(22, 40)]);
    const passes = server.engine.of("transcribeLive");
    expect(Math.max(...passes.map(({ span }) => span.endSeconds - span.startSeconds))).toBeLessThan(30);
  });

  test("costs no operation while the sound is silent", async () => {
    const { session, events } = server.open();
    session.write(sound([0, 300]));
    session.commit();
    await events.received("turnCompleted");
    expect(server.engine.calls).toEqual([]);
    expect(events.of("turnCompleted")[0]).toMatchObject({ text: "", language: null });
  });

  test("has no words of noise without speech", async () => {
    const { session, events } = server.open();
    session.write(sound([500, 10]));
    await session.end();
    expect(events.all.map(({ type }) => type)).toEqual(["ended"]);
    expect(server.engine.of("detectSpeech").length).toBeGreaterThan(1);
  });

  test("ends a turn at a commit, and continues with a new one", async () => {
    const { session, events } = server.open();
    session.write(sound([2000, 2]));
    await events.received("speechStarted");
    session.commit();
    session.write(sound([2000, 2], [0, 1]));
    await events.received("turnCompleted", 2);
    expect(events.of("turnCompleted").map(({ text }) => text)).toEqual([words(0, 2), words(2, 4)]);
    expect(refusal(() => server.open({}, server.sender()).session.commit())).toEqual({ kind: "empty_turn" });
  });

  test("ends the turn when no sound arrives any more", async () => {
    const { session, events } = server.open();
    session.write(sound([2000, 2]));
    await events.received("speechStarted");
    server.advance(4);
    await events.received("turnCompleted");
    expect(events.text).toBe(words(0, 2));
    session.write(sound([2000, 1], [0, 1]));
    await events.received("turnCompleted", 2);
    expect(events.text).toBe(words(0, 3));
  });

  test("takes sound in any format", async () => {
    const format = { encoding: "mulaw", sampleRate: 8000 } as const;
    const { session, events } = server.open({ format });
    // The code 0x9f and 0x1f are 8316 and -8316.
    const loud = Uint8Array.from({ length: 8000 }, (_, at) => (at % 8 < 4 ? 0x9f : 0x1f));
    for (let from = 0; from < loud.length; from += 999) session.write(loud.subarray(from, from + 999));
    session.write(new Uint8Array(8000).fill(0xff));
    await events.received("turnCompleted");
    expect(events.text).toBe(words(0, 1));
    await session.end();
    const [name = ""] = server.filesIn("uploads");
    const recorded = readFileSync(`${server.dataDirectory.uploads}/${name}`);
    expect(recorded.length).toBe(44 + 2 * 2 * 16_000);
  });
});

describe("a session whose turns the client ends", () => {
  test("has one turn from commit to commit, also over pauses", async () => {
    const { session, events } = server.open(manual);
    session.write(sound([0, 0.5], [2000, 2], [0, 3], [2000, 1.5]));
    session.commit();
    session.write(sound([2000, 1]));
    session.commit();
    await events.received("turnCompleted", 2);
    expect(kinds(events.all)).toEqual(["committed", "committed", "turnCompleted", "turnCompleted"]);
    expect(events.of("turnCompleted").map(({ text, seconds }) => [text, seconds])).toEqual([
      [`${words(0.5, 2.5)} ${words(5.5, 7)}`, 7],
      [words(7, 8), 1],
    ]);
  });

  test("keeps no word of sound that was cleared", async () => {
    const { session, events } = server.open(manual);
    session.write(sound([2000, 2]));
    session.clear();
    session.write(sound([2000, 2]));
    session.commit();
    await events.received("turnCompleted");
    expect(events.of("turnCompleted").map(({ text }) => text)).toEqual([words(2, 4)]);
    expect(kinds(events.all)).toEqual(["cleared", "committed", "turnCompleted"]);
    // The cleared sound stays in the recording.
    await session.end();
    const [name = ""] = server.filesIn("uploads");
    expect(readFileSync(`${server.dataDirectory.uploads}/${name}`).length).toBe(44 + 4 * 32_000);
  });

  test("refuses a commit of too little sound, and recognizes the rest at the end", async () => {
    const { session, events } = server.open(manual);
    expect(refusal(() => session.commit())).toEqual({ kind: "empty_turn" });
    session.write(sound([2000, 2]));
    session.commit();
    session.write(sound([2000, 0.05]));
    expect(refusal(() => session.commit())).toEqual({ kind: "empty_turn" });
    session.write(sound([2000, 0.95]));
    await session.end();
    expect(events.of("turnCompleted").map(({ text }) => text)).toEqual([words(0, 2), words(2, 3)]);
  });

  test("recognizes a turn of minutes in parts", async () => {
    const { session, events } = server.open(manual);
    const breath = [
      [2000, 21.7],
      [0, 0.3],
    ] as const;
    for (let part = 0; part < 6; part++) session.write(sound(...breath));
    session.commit();
    await events.received("turnCompleted");
    const found = events.of("turnCompleted")[0]?.text.split(" ");
    expect(found?.length).toBe(6 * 44);
    expect(new Set(found).size).toBe(6 * 44);
    const passes = server.engine.of("transcribeLive");
    expect(Math.max(...passes.map(({ span }) => span.endSeconds - span.startSeconds))).toBeLessThan(30);
  });
});

describe("the options of a session", () => {
  test("are refused when they are not valid", () => {
    const cases = [
      [{ format: { encoding: "pcm16", sampleRate: 7999 } }, "format"],
      [{ format: { encoding: "pcm16", sampleRate: 16_000.5 } }, "format"],
      [{ language: "xx" }, "language"],
      [{ prompt: "\u202e" }, "prompt"],
      [{ prompt: "x".repeat(2001) }, "prompt"],
      [{ turns: { threshold: 2, paddingSeconds: 0.3, silenceSeconds: 0.5 } }, "turns"],
      [{ turns: { threshold: 0.5, paddingSeconds: 0.3, silenceSeconds: Number.NaN } }, "turns"],
      [{ name: "" }, "name"],
      [{ name: "x".repeat(256) }, "name"],
    ] as const;
    for (const [options, option] of cases) {
      expect(refusal(() => server.open(options))).toMatchObject({ kind: "bad_option", option });
    }
    expect(server.filesIn("live")).toEqual([]);
    expect(server.rows("creates")).toBe(0);
  });

  test("change from the next turn on; the format does before the first sound alone", async () => {
    const { session, events } = server.open({ language: null });
    session.update({ format: { encoding: "pcm16", sampleRate: 8000 } });
    session.update({ format: automatic.format });
    session.write(sound([2000, 2]));
    await events.received("speechStarted");
    const format = { encoding: "pcm16", sampleRate: 8000 } as const;
    expect(refusal(() => session.update({ format }))).toMatchObject({ kind: "bad_option", option: "format" });
    session.update({ turns: null, language: "de", prompt: "Rigor mortis" });
    session.write(sound([0, 1], [2000, 1], [0, 1]));
    await events.received("speechStopped");
    session.commit();
    await events.received("turnCompleted", 2);
    expect(events.of("turnCompleted").map(({ text }) => text)).toEqual([words(0, 2), words(3, 4)]);
    expect(events.of("speechStarted").length).toBe(1);
    expect(server.engine.of("transcribeLive").at(-1)).toMatchObject({ language: "de", vocabulary: "Rigor mortis" });
  });

  test("include the account's vocabulary", async () => {
    server.store.$client.run("UPDATE accounts SET vocabulary = 'Aachen'", []);
    server.account();
    server.store.$client.run("UPDATE accounts SET vocabulary = 'Aachen'", []);
    const { session } = server.open({ prompt: "Bonn" });
    session.write(sound([2000, 1], [0, 1]));
    await session.end();
    expect(server.engine.of("transcribeLive")[0]?.vocabulary).toBe("Aachen, Bonn");
  });
});

describe("the language of a session", () => {
  test("is detected once in the first speech, and later when people may have changed it", async () => {
    const { session, events } = server.open({ language: null });
    session.write(sound([2000, 4], [0, 1]));
    await events.received("turnCompleted");
    const detections = () => server.engine.of("detectLiveLanguage").length;
    const first = detections();
    expect(first).toBeGreaterThan(0);
    session.write(sound([2000, 4], [0, 1]));
    await events.received("turnCompleted", 2);
    expect(detections()).toBe(first);
    server.engine.languages = { de: 0.97, en: 0.03 };
    for (let turn = 3; turn <= 12; turn++) {
      session.write(sound([2000, 4], [0, 1]));
      await events.received("turnCompleted", turn);
    }
    expect(detections()).toBeGreaterThan(first);
    expect(detections()).toBeLessThan(first + 3);
    expect(events.of("turnCompleted").map(({ language }) => language)).toContain("de");
    expect(events.text).toBe(Array.from({ length: 12 }, (_, turn) => words(5 * turn, 5 * turn + 4)).join(" "));
  });
});

test("passes and detections of the language use the ONNX form of the encoder, once it is known", async () => {
  const { session, events } = server.open({ language: null });
  session.write(sound([2000, 1], [0, 1]));
  await events.received("partial");
  server.encoder = "/encoders/base.onnx";
  session.write(sound([2000, 3], [0, 1]));
  await events.received("turnCompleted", 2);
  for (const operation of ["detectLiveLanguage", "transcribeLive"] as const) {
    const encoders = server.engine.of(operation).map(({ encoder }) => encoder);
    expect([encoders[0], encoders.at(-1)]).toEqual([undefined, "/encoders/base.onnx"]);
  }
});

describe("the words of a first turn whose language is not sure", () => {
  beforeEach(() => {
    server.engine.shortLanguages.seconds = 2;
  });

  test("wait for more speech, which decides the language of both", async () => {
    const { session, events } = server.open({ language: null });
    session.write(sound([2000, 1], [0, 1]));
    await events.received("committed");
    await events.received("partial");
    expect(events.of("partial").at(-1)?.text).toBe(words(0, 1));
    expect(events.of("final")).toEqual([]);
    session.write(sound([2000, 2], [0, 1]));
    await events.received("turnCompleted", 2);
    expect(events.of("turnCompleted").map(({ text, language }) => [text, language])).toEqual([
      [words(0, 1), "en"],
      [words(2, 4), "en"],
    ]);
    const languages = server.engine.of("transcribeLive").map(({ language }) => language);
    expect(languages.indexOf("en")).toBeGreaterThan(0);
    expect(languages.lastIndexOf("de")).toBeLessThan(languages.indexOf("en"));
  });

  test("are final after two seconds without more speech, in the most probable language", async () => {
    const { session, events } = server.open({ language: null });
    // A pass in the pause has all of its words before the turn is over.
    session.write(sound([2000, 1], [0, 0.3]));
    await events.received("partial");
    session.write(sound([0, 1]));
    await events.received("committed");
    await settled(server);
    expect(events.of("final")).toEqual([]);
    session.write(sound([0, 1.5]));
    await events.received("turnCompleted");
    expect(events.of("turnCompleted")[0]).toMatchObject({ text: words(0, 1), language: "de" });
    expect(events.text).toBe(words(0, 1));
  });

  test("do not wait when the session ends, or when no sound arrives any more", async () => {
    const { session, events } = server.open({ language: null });
    session.write(sound([2000, 1], [0, 1]));
    await session.end();
    expect(events.text).toBe(words(0, 1));
    const paused = server.open({ language: null });
    paused.session.write(sound([2000, 1], [0, 1]));
    await paused.events.received("partial");
    expect(paused.events.of("turnCompleted")).toEqual([]);
    server.advance(4);
    await paused.events.received("turnCompleted");
    expect(paused.events.text).toBe(words(0, 1));
  });

  test("do not wait where the client ends turns", async () => {
    const { session, events } = server.open({ language: null, turns: null });
    session.write(sound([0, 0.2], [2000, 1], [0, 0.2]));
    session.commit();
    await events.received("turnCompleted");
    expect(events.text).not.toBe("");
  });
});

describe("the speakers of a session", () => {
  test("are known by their voices, in order of appearance", async () => {
    const { session, events } = server.open();
    session.write(sound([2000, 3], [0, 1], [8000, 3], [0, 1], [2000, 3], [0, 1], [8000, 1], [0, 1]));
    await events.received("turnCompleted", 4);
    await session.end();
    const labels = new Map(
      events.of("speakers").flatMap(({ speakers }) => speakers.map((one) => [one.segment, one.speaker])),
    );
    const byTurn = events.of("turnCompleted").map(({ turn }) => {
      const numbers = events.of("final").filter((event) => event.turn === turn);
      return [...new Set(numbers.map(({ segment }) => labels.get(segment.number)))];
    });
    expect(byTurn).toEqual([["S1"], ["S2"], ["S1"], ["S2"]]);
  });

  test("have names that are checked", () => {
    const { session } = server.open();
    session.nameSpeaker("S1", " Anna ");
    session.nameSpeaker("S1", "");
    for (const [speaker, name] of [
      ["A", "Anna"],
      ["S1", "x".repeat(101)],
      ["S0", "Anna"],
    ] as const) {
      expect(refusal(() => session.nameSpeaker(speaker, name))).toMatchObject({ kind: "bad_option", option: "name" });
    }
  });
});

describe("operations that fail", () => {
  test("are repeated, and no word is lost", async () => {
    let failures = 2;
    server.engine.onCall = ({ operation }) => {
      if (operation === "transcribeLive" && failures-- > 0) throw new Error("the worker exited");
    };
    const { session, events } = server.open();
    session.write(sound([2000, 2], [0, 1]));
    await events.received("turnCompleted");
    expect(events.text).toBe(words(0, 2));
    expect(server.log.some(({ event }) => event === "live.operation_failed")).toBe(true);
  }, 20_000);

  test("fail their turn in the end, and the next turn has its words", async () => {
    server.engine.onCall = (call) => {
      if (call.operation === "transcribeLive" && call.params.span.startSeconds < 3) throw new Error("impossible");
    };
    const { session, events } = server.open();
    session.write(sound([2000, 2], [0, 2], [2000, 2], [0, 1]));
    await events.received("turnFailed");
    await events.received("turnCompleted");
    expect(events.text).toBe(words(4, 6));
    await session.end();
    expect(events.of("ended")[0]?.recordingId).not.toBeNull();
  }, 20_000);

  test("of one kind are never requested twice at a time", async () => {
    const running = new Map<string, number>();
    let most = 0;
    server.engine.onCall = async ({ operation }) => {
      running.set(operation, (running.get(operation) ?? 0) + 1);
      most = Math.max(most, running.get(operation) ?? 0);
      await new Promise((resolve) => setImmediate(resolve));
      running.set(operation, (running.get(operation) ?? 0) - 1);
    };
    const { session } = server.open({ language: null });
    for (let part = 0; part < 20; part++) session.write(sound([2000, 1], [0, 0.7]));
    await session.end();
    expect(most).toBe(1);
  });
});

describe("a session that is too fast", () => {
  test("is refused more sound than may wait, and continues afterwards", async () => {
    const waiting = Promise.withResolvers<void>();
    server.engine.onCall = () => waiting.promise;
    const { session, events } = server.open();
    session.write(sound([2000, 20]));
    const minute = sound([0, 60]);
    expect(refusal(() => Array.from({ length: 20 }, () => session.write(minute)))).toEqual({ kind: "too_fast" });
    waiting.resolve();
    await events.received("turnCompleted");
    session.write(minute);
    expect(events.text).toBe(words(0, 20));
  });
});
