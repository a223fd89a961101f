import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { findSchema, outlineSchema, recordingSchema, segmentPageSchema } from "../../../src/console/contract/index.ts";
import { type Browser, ConsoleServer } from "../../support/console.ts";
import { signedIn } from "./people.ts";

setDefaultTimeout(60_000);

const exported = async (browser: Browser, id: string, format: string) => {
  const answer = await browser.data(`/recordings/${id}/exports/${format}`);
  expect(answer.status).toBe(200);
  return answer;
};

describe("the segments of a transcript", () => {
  test("have words with their positions in the text, times and probabilities", async () => {
    using server = new ConsoleServer();
    const id = await server.enterSaid("first", ["Hello, hello world.", "Really? Yes."]);
    const { segments } = await (await server.operator()).read(`/recordings/${id}/segments`, segmentPageSchema);
    expect(segments[0]).toEqual({
      ...{ id: 0, index: 0, start: 0, end: 0.9, speaker: "A", text: "Hello, hello world." },
      is_speaker_uncertain: false,
      words: [
        [0, 6, 0, 0.3, 0.9],
        [7, 12, 0.3, 0.6, 0.9],
        [13, 19, 0.6, 0.9, 0.9],
      ],
    });
    expect(segments[1]?.words.map(([from, to, , , sure]) => [segments[1]?.text.slice(from, to), sure])).toEqual([
      ["Really?", 0.2],
      ["Yes.", 0.9],
    ]);
  });

  test("have no probability to mark words by if the model's probabilities are not calibrated", async () => {
    using server = new ConsoleServer();
    const id = server.api.enterProcessing(server.api.account("first").id);
    const word = { text: " Ja.", startSeconds: 0, endSeconds: 0.3, probability: 0.1, isCalibrated: false as const };
    server.api.recordings.complete(id, [
      { index: 0, startSeconds: 0, endSeconds: 1, speaker: 0, text: "Ja.", words: [word] },
    ]);
    const { segments } = await (await server.operator()).read(`/recordings/${id}/segments`, segmentPageSchema);
    expect(segments[0]?.words).toEqual([[0, 3, 0, 0.3, null]]);
  });

  test("are returned from any index on, up to a limit", async () => {
    using server = new ConsoleServer();
    const id = await server.enterSaid(
      "first",
      Array.from({ length: 30 }, (_, index) => `Segment ${index}.`),
    );
    const operator = await server.operator();
    const indexes = async (query: string) => {
      const { segments } = await operator.read(`/recordings/${id}/segments?${query}`, segmentPageSchema);
      return segments.map(({ index }) => index);
    };
    expect(await indexes("after=-1&limit=3")).toEqual([0, 1, 2]);
    expect(await indexes("after=26")).toEqual([27, 28, 29]);
    expect(await indexes("after=29")).toEqual([]);
    expect(await indexes("")).toHaveLength(30);
    for (const query of ["limit=501", "limit=0", "after=-2", "after=x", "after=1.5"]) {
      const answer = await operator.data(`/recordings/${id}/segments?${query}`);
      expect([query, answer.status]).toEqual([query, 422]);
    }
  });

  test("are all in the outline", async () => {
    using server = new ConsoleServer();
    const id = await server.enterSaid("first", ["One.", "Two two.", "Three."]);
    expect(await (await server.operator()).read(`/recordings/${id}/outline`, outlineSchema)).toEqual({
      revision: 0,
      start_milliseconds: [0, 1000, 2000],
      end_milliseconds: [900, 1900, 2900],
      speaker: [0, 1, 0],
      characters: [4, 8, 6],
      next_after: null,
    });
  });
});

describe("the text search in a transcript", () => {
  test("finds every occurrence, also within words, in any case and with any accents", async () => {
    using server = new ConsoleServer();
    const id = await server.enterSaid("first", ["Die Ärzte, die ärztin.", "nothing", "ARZT"]);
    const found = await (await server.operator()).read(`/recordings/${id}/find?q=arzt`, findSchema);
    expect(found).toEqual({
      matches: [
        {
          segment: 0,
          start: 0,
          marks: [
            [4, 8],
            [15, 19],
          ],
        },
        { segment: 2, start: 2, marks: [[0, 4]] },
      ],
      total: 3,
      next_after: null,
    });
  });

  test("has pages if there are many matches, and counts all of them", async () => {
    using server = new ConsoleServer();
    const id = await server.enterSaid(
      "first",
      Array.from({ length: 2500 }, () => "a pear"),
    );
    const operator = await server.operator();
    const first = await operator.read(`/recordings/${id}/find?q=pear&limit=1000`, findSchema);
    expect([first.matches.length, first.total, first.next_after]).toEqual([1000, 2500, 1000]);
    const last = await operator.read(`/recordings/${id}/find?q=pear&limit=1000&after=2000`, findSchema);
    expect([last.matches[0]?.segment, last.matches.length, last.next_after]).toEqual([2000, 500, null]);
  });
});

describe("renamed speakers", () => {
  test("have their names in the exports of the console, and not in answers of the API", async () => {
    using server = new ConsoleServer();
    const id = await server.enterSaid("first", ["Hello.", "Hello, Ann."]);
    const operator = await server.operator();
    const answer = await operator.send("PUT", `/recordings/${id}/speakers`, { names: { 0: " Ann <b>", 1: "Боб" } });
    expect(answer.status).toBe(200);
    const { speakers } = await operator.read(`/recordings/${id}`, recordingSchema);
    expect(speakers.map(({ speaker, name }) => [speaker, name])).toEqual([
      ["A", "Ann <b>"],
      ["B", "Боб"],
    ]);
    for (const format of ["txt", "vtt"]) {
      const text = await (await exported(operator, id, format)).text();
      expect(text).toContain("Боб");
      const public_ = server.api.client("first");
      const plain = await (await public_.fetch(`/transcriptions/${id}/export?format=${format}`)).text();
      expect(plain).not.toContain("Боб");
    }
    const segments = await (await server.api.client("first").fetch(`/transcriptions/${id}/segments`)).text();
    expect(segments).toContain('"speaker":"A"');
    expect(segments).not.toContain("Ann <b>");
  });

  test("have their names as they are typed in every text format, without hidden text", async () => {
    using server = new ConsoleServer();
    const id = await server.enterSaid("first", ["Hello."]);
    const operator = await server.operator();
    const name =
      "M.\u00a0葛\u{e0100} \u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} 1\ufe0f\u20e3 علی\u200cرضا";
    await operator.send("PUT", `/recordings/${id}/speakers`, { names: { 0: ` ${name}\u{e0068}\u{e0069}\u202e\n` } });
    const { speakers } = await operator.read(`/recordings/${id}`, recordingSchema);
    expect(speakers.map((speaker) => speaker.name)).toEqual([name]);
    for (const format of ["txt", "vtt", "json", "csv", "textgrid", "eaf"]) {
      expect([format, await (await exported(operator, id, format)).text()]).toEqual([
        format,
        expect.stringContaining(name),
      ]);
    }
  });

  test("lose their name with an empty name; other speakers keep theirs", async () => {
    using server = new ConsoleServer();
    const id = await server.enterSaid("first", ["Hello.", "Hello."]);
    const operator = await server.operator();
    await operator.send("PUT", `/recordings/${id}/speakers`, { names: { 0: "Ann", 1: "Bob" } });
    await operator.send("PUT", `/recordings/${id}/speakers`, { names: { 0: "" } });
    const { speakers } = await operator.read(`/recordings/${id}`, recordingSchema);
    expect(speakers.map(({ name }) => name)).toEqual([null, "Bob"]);
  });

  const wrong = [
    { names: { 2: "Carl" } },
    { names: { a: "x" } },
    { names: { 0: "x".repeat(101) } },
    { names: { 0: 1 } },
    {},
    { names: { 0: "x" }, more: 1 },
  ];
  test.each(wrong)("must exist in the recording and have names: %p is refused", async (body) => {
    using server = new ConsoleServer();
    const id = await server.enterSaid("first", ["Hello."]);
    const operator = await server.operator();
    expect(await operator.refusal(operator.send("PUT", `/recordings/${id}/speakers`, body), 422)).toBe(
      "validation_failed",
    );
  });
});

describe("exports", () => {
  test("are files with a safe name, like the API's", async () => {
    using server = new ConsoleServer();
    const id = await server.enterSaid("first", ["Hello."], 'a"b\u202e/ü');
    const answer = await exported(await server.operator(), id, "srt");
    expect(answer.headers.get("content-type")).toBe("application/x-subrip; charset=utf-8");
    const api = await server.api.client("first").fetch(`/transcriptions/${id}/export?format=srt`);
    const disposition = answer.headers.get("content-disposition") ?? "";
    expect(disposition).toBe(api.headers.get("content-disposition") ?? "");
    // The page takes the name from the recording's data, not from the header.
    const { exports } = await (await server.operator()).read(`/recordings/${id}`, recordingSchema);
    expect(exports.map(({ file_name }) => file_name)).toContain("a_b_ü.srt");
    expect(disposition).toBe(`attachment; filename="a_b_u.srt"; filename*=UTF-8''${encodeURIComponent("a_b_ü.srt")}`);
    expect(await answer.text()).toBe(await api.text());
  });

  test.each(["pdf", "docx"])("are available as %s, too", async (format) => {
    using server = new ConsoleServer();
    const id = await server.enterSaid("first", ["Hello."]);
    const bytes = await (await exported(await server.operator(), id, format)).bytes();
    expect(bytes.length).toBeGreaterThan(1000);
  });

  test("are not available in other formats", async () => {
    using server = new ConsoleServer();
    const id = await server.enterSaid("first", ["Hello."]);
    const operator = await server.operator();
    for (const format of ["exe", "TXT", "constructor", "toString"]) {
      expect(await operator.refusal(operator.data(`/recordings/${id}/exports/${format}`), 404)).toBe("not_found");
    }
  });
});

test("a recording that has not completed has no transcript", async () => {
  using server = new ConsoleServer();
  const { api } = server;
  const { id: account } = api.account("first");
  const operator = await server.operator();
  for (const id of [api.enterQueued(account), api.enterFailed(account)])
    for (const path of ["segments", "outline", "find?q=x", "exports/txt"]) {
      expect(await operator.refusal(operator.data(`/recordings/${id}/${path}`), 409)).toBe("not_ready");
    }
});

test("one person's slow downloads of exports make no other person wait", async () => {
  using server = new ConsoleServer();
  const text = "word ".repeat(400).trim();
  const long = await server.enterSaid(
    "first",
    Array.from({ length: 400 }, () => text),
  );
  const short = await server.enterSaid("second", ["hello"]);
  const reader = await signedIn(server, "rita@example.org", "reader", ["first"]);
  const operator = await server.operator();
  const slow = await Promise.all(Array.from({ length: 16 }, () => reader.data(`/recordings/${long}/exports/json`)));
  expect(slow.filter(({ status }) => status !== 200)).toEqual([]);
  expect((await reader.data(`/recordings/${long}/exports/json`)).status).toBe(429);
  const answer = await operator.data(`/recordings/${short}/exports/txt`);
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("hello")]);
  for (const { body } of slow) await body?.cancel();
});
