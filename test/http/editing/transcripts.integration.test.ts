import { afterAll, describe, expect, test } from "bun:test";
import { readAudit } from "../../../src/accounts/index.ts";
import { MAX_CORRECTIONS } from "../../../src/api-contract/editing.ts";
import { Editor, enterSaid } from "../../support/editor.ts";
import { ApiServer } from "../../support/http.ts";
import { refusalOf } from "../../support/secrets.ts";

const server = new ApiServer();
afterAll(() => server[Symbol.dispose]());
const editor = new Editor(server);
const { client } = editor;
const texts = ["We met in June.", "Yes, we did.", "And then he left."];

interface Answer {
  readonly revision: number;
}

const enter = () => {
  const id = enterSaid(server, client.accountId, texts);
  const path = `/transcriptions/${id}`;
  return {
    id,
    path,
    async correct(revision: number | undefined, ...corrections: object[]) {
      return await editor.send("POST", `${path}/corrections`, { corrections }, revision);
    },
    segments: async () => (await client.segments(id)).map(({ speaker, text }) => `${speaker} ${text}`),
  };
};
const revisionOf = async (response: Response) => {
  expect(response.status).toBe(200);
  const { revision } = (await response.json()) as Answer;
  expect(response.headers.get("etag")).toBe(`"${revision}"`);
  return revision;
};
/** Returns `STATUS field: message` of a 422 answer. */
const invalid = async (response: Response) => {
  const body = (await response.json()) as { errors?: Record<string, string[]> };
  const [field, [message] = []] = Object.entries(body.errors ?? {})[0] ?? [];
  return `${response.status} ${field}: ${message}`;
};

describe("POST /transcriptions/{id}/corrections", () => {
  test("changes texts and speakers as one revision, whose author is the key", async () => {
    const { id, path, correct, segments } = enter();
    const response = await correct(
      0,
      { index: 0, text: "We met in July.", speaker: "B" },
      { index: 2, speaker: "new" },
      { index: 1, text: "" },
    );
    expect(await revisionOf(response)).toBe(1);
    expect(await segments()).toEqual(["A We met in July.", "B And then he left."]);
    const { data } = await editor.read<{ data: object[] }>(`${path}/revisions`);
    expect(data).toMatchObject([{ number: 1, author: "the key reports", action: "text", segments: 3 }]);
    const entries = readAudit(server.store, 100).filter(({ subject }) => subject === id);
    expect(entries).toMatchObject([{ action: "recordings.correct", actor: `key:${client.keyId}` }]);
  });

  test("without If-Match is 428, and with one that is no revision 422", async () => {
    const { correct, path } = enter();
    expect(await refusalOf(await correct(undefined, { index: 0, text: "x" }))).toBe("428 precondition_required");
    for (const tag of ["*", "3", 'W/"0"', '"0", "1"', '"-1"', '"99999999999"']) {
      const headers = { "If-Match": tag };
      const body = { corrections: [{ index: 0, text: "x" }] };
      const response = await editor.send("POST", `${path}/corrections`, body, undefined, headers);
      expect(await invalid(response)).toBe('422 If-Match: It must be the ETag of a revision, such as "3".');
    }
  });

  test("after others changed the transcript is 412 with their changes, and changes nothing", async () => {
    const { id, correct, segments } = enter();
    await correct(0, { index: 1, text: "Yes." });
    const before = await segments();
    const response = await correct(0, { index: 1, text: "No." });
    expect(response.status).toBe(412);
    expect(await response.json()).toMatchObject({
      error: "precondition_failed",
      changes: {
        revision: 1,
        authors: ["the key reports"],
        splices: [{ index: 1, removed: 1, segments: [{ index: 1, speaker: "B", text: "Yes." }] }],
      },
    });
    expect(await segments()).toEqual(before);
    expect(server.recordings.get(id)?.revision).toBe(1);
  });

  test("after others changed the transcript tells a key that may not read no text", async () => {
    const { path, correct } = enter();
    await correct(0, { index: 1, text: "A secret." });
    const writer = new Editor(server, "first", { scopes: ["transcriptions:edit"] });
    for (const [method, route, body] of [
      ["POST", "corrections", { corrections: [{ index: 1, text: "No." }] }],
      ["POST", "speakers/merge", { speaker: "B", into: "A" }],
      ["PATCH", "speakers", { names: { A: "Ada" } }],
      ["POST", "revisions/0/restore", undefined],
    ] as const) {
      const response = await writer.send(method, `${path}/${route}`, body, 0);
      expect([response.status, await response.json()]).toEqual([
        412,
        expect.objectContaining({ changes: { revision: 1, authors: ["the key reports"], splices: null } }),
      ]);
    }
  });

  test("and corrections of a person in the console are in one order of revisions, in which neither overwrites the other", async () => {
    const { id, path, correct, segments } = enter();
    const { library } = server.appOptions;
    const person = { kind: "operator", actor: "operator" } as const;
    const type = (segment: number, text: string, sequence: number, seen: number) =>
      library.revisions.correct(person, id, { action: "text", segment, text }, { editor: "page-one", sequence, seen });
    type(0, "By a person.", 1, 0);
    expect(await refusalOf(await correct(0, { index: 0, text: "By a program." }))).toBe("412 precondition_failed");
    expect(await revisionOf(await correct(1, { index: 1, text: "By a program." }))).toBe(2);
    expect(() => type(1, "By a person, too.", 2, 1)).toThrow("not_corrected");
    expect(type(2, "By a person.", 3, 1).number).toBe(3);
    expect(await segments()).toEqual(["A By a person.", "B By a program.", "A By a person."]);
    const { data } = await editor.read<{ data: { author: string }[] }>(`${path}/revisions`);
    expect(data.map(({ author }) => author)).toEqual(["the operator", "the key reports", "the operator"]);
  });

  test("of two requests for one revision, exactly one succeeds", async () => {
    const { correct } = enter();
    const both = await Promise.all([correct(0, { index: 0, text: "One." }), correct(0, { index: 0, text: "Two." })]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 412]);
  });

  test("refuses what does not fit the transcript, and makes none of the corrections", async () => {
    const { correct, segments } = enter();
    const first = { index: 0, text: "Changed." };
    const refused: [object[], string][] = [
      [[first, { index: 3, text: "x" }], "422 corrections: Segment 3: the transcript has no such segment."],
      [[first, first], "422 corrections: Segment 0: it occurs twice."],
      [[first, { index: 1 }], "422 corrections: Segment 1: it needs a text or a speaker."],
      [[first, { index: 1, speaker: "C" }], "422 corrections: The transcript has no speaker C."],
      [
        [first, { index: 1, text: " ", speaker: "A" }],
        "422 corrections: Segment 1: a segment that is removed gets no speaker.",
      ],
    ];
    for (const [corrections, message] of refused) expect(await invalid(await correct(0, ...corrections))).toBe(message);
    const shape = "422 corrections: It must be a list of 1 to 100 objects";
    for (const corrections of [
      [],
      [{ index: -1, text: "x" }],
      [{ index: 0, text: 1 }],
      [{ index: 0, text: "x".repeat(20_001) }],
      Array.from({ length: MAX_CORRECTIONS + 1 }, (_, index) => ({ index, text: "x" })),
    ]) {
      expect(await invalid(await correct(0, ...corrections))).toStartWith(shape);
    }
    expect(await segments()).toEqual(["A We met in June.", "B Yes, we did.", "A And then he left."]);
  });

  test("refuses a body that is no JSON, no object or too long", async () => {
    const { path } = enter();
    const send = (body: string) =>
      client.fetch(`${path}/corrections`, { method: "POST", body, headers: { "If-Match": '"0"' } });
    expect(await refusalOf(await send("{"))).toBe("400 bad_request");
    expect(await refusalOf(await send("[]"))).toBe("400 bad_request");
    expect(await refusalOf(await send(`"${"x".repeat(1024 * 1024)}"`))).toBe("413 file_too_large");
  });

  test("of a recording that has not completed is 409", async () => {
    const id = server.enterProcessing(client.accountId);
    const body = { corrections: [{ index: 0, text: "x" }] };
    const response = await editor.send("POST", `/transcriptions/${id}/corrections`, body, 0);
    expect(await refusalOf(response)).toBe("409 transcription_is_not_ready");
  });
});

describe("the speakers of a transcript", () => {
  test("are listed with the names that a client gives and removes", async () => {
    const { id, path } = enter();
    const rename = (names: unknown, revision?: number) => editor.send("PATCH", `${path}/speakers`, { names }, revision);
    expect(await editor.read(`${path}/speakers`)).toEqual({
      revision: 0,
      data: [
        { speaker: "A", name: null },
        { speaker: "B", name: null },
      ],
    });
    expect(await (await rename({ A: " Ada  Lovelace ", B: "Bob" }, 0)).json()).toMatchObject({
      data: [{ name: "Ada Lovelace" }, { name: "Bob" }],
    });
    await rename({ B: null });
    expect(await editor.read(`${path}/speakers`)).toMatchObject({ data: [{ name: "Ada Lovelace" }, { name: null }] });
    const [entry] = readAudit(server.store, 1);
    expect(entry).toMatchObject({ action: "recordings.name_speakers", actor: `key:${client.keyId}`, subject: id });
    expect(entry?.details).not.toContain("Ada");
    expect(await invalid(await rename({ C: "Eve" }))).toBe("422 names: The transcript has no speaker C.");
    expect(await invalid(await rename({ A: "x".repeat(101) }))).toStartWith("422 names: It must be an object");
    for (const names of [{ k: { a: 1 } }, { A: 1 }, { ABC: "Eve" }, { a: "Eve" }, ["Eve"], "Eve"]) {
      expect(await invalid(await rename(names))).toStartWith("422 names: It must be an object");
    }
    expect(await refusalOf(await rename({ A: "Eve" }, 7))).toBe("412 precondition_failed");
    expect((await client.segments(id)).map(({ speaker }) => speaker)).toEqual(["A", "B", "A"]);
  });

  test("are merged as a revision", async () => {
    const { path, segments } = enter();
    const merge = (body: object, revision?: number) => editor.send("POST", `${path}/speakers/merge`, body, revision);
    expect(await refusalOf(await merge({ speaker: "B", into: "A" }))).toBe("428 precondition_required");
    expect(await invalid(await merge({ speaker: "B", into: "B" }, 0))).toStartWith("422 into:");
    expect(await invalid(await merge({ speaker: "D", into: "A" }, 0))).toBe(
      "422 speaker: The transcript has no speaker D.",
    );
    expect(await invalid(await merge({ speaker: "B" }, 0))).toBe(
      "422 into: It must be the letter of a speaker, such as A.",
    );
    expect(await revisionOf(await merge({ speaker: "B", into: "A" }, 0))).toBe(1);
    expect(await segments()).toEqual(texts.map((text) => `A ${text}`));
    expect(await refusalOf(await merge({ speaker: "B", into: "A" }, 0))).toBe("412 precondition_failed");
  });
});

describe("the revisions of a transcript", () => {
  const corrected = async () => {
    const entered = enter();
    await entered.correct(0, { index: 0, text: "We met in July." });
    await entered.correct(1, { index: 1, text: "" });
    await entered.correct(2, { index: 1, speaker: "new" });
    return entered;
  };

  test("are listed newest first in pages, with the latest as ETag", async () => {
    const { path } = await corrected();
    const numbers: number[] = [];
    let cursor = "";
    do {
      const response = await client.fetch(`${path}/revisions?limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`);
      expect(response.headers.get("etag")).toBe('"3"');
      const page = (await response.json()) as { data: { number: number }[]; next_cursor: string; revision: number };
      expect(page.revision).toBe(3);
      numbers.push(...page.data.map(({ number }) => number));
      cursor = page.next_cursor;
    } while (cursor !== "");
    expect(numbers).toEqual([3, 2, 1]);
  });

  test("have the segments as they were, and differ from each other", async () => {
    const { path } = await corrected();
    const shown = async (number: number) => {
      const { data } = await editor.read<{ data: { text: string }[] }>(`${path}/revisions/${number}`);
      return data.map(({ text }) => text);
    };
    expect(await shown(0)).toEqual(texts);
    expect(await shown(1)).toEqual(["We met in July.", "Yes, we did.", "And then he left."]);
    expect(await shown(3)).toEqual(["We met in July.", "And then he left."]);
    const compared = await editor.read<{ total: number; data: unknown[] }>(`${path}/revisions/0/comparison?other=1`);
    expect(compared).toMatchObject({
      total: 1,
      revision: 1,
      data: [{ index: 0, before: [{ text: "We met in June." }], after: [{ speaker: "A", text: "We met in July." }] }],
    });
    expect(await editor.read(`${path}/revisions/2/comparison`)).toMatchObject({ total: 1, revision: 3 });
    expect(await invalid(await client.fetch(`${path}/revisions/9`))).toStartWith("422 number: This revision");
    expect(await invalid(await client.fetch(`${path}/revisions/0/comparison?other=9`))).toStartWith("422 number:");
    for (const number of ["x", "-1", "1.5", "01"]) {
      expect(await refusalOf(await client.fetch(`${path}/revisions/${number}`))).toBe("404 not_found");
    }
  });

  test("are read in pages, between which others correct the transcript and delete the recording", async () => {
    const { id, path, correct } = await corrected();
    const readPage = (query: string) =>
      editor.read<{ data: { text: string }[]; next_cursor: string }>(`${path}/revisions/1?limit=1${query}`);
    const first = await readPage("");
    const second = await readPage(`&cursor=${first.next_cursor}`);
    await correct(3, { index: 0, text: "Somebody else wrote this." });
    const third = await readPage(`&cursor=${second.next_cursor}`);
    const pages = [first, second, third];
    expect(pages.flatMap(({ data }) => data.map(({ text }) => text))).toEqual([
      "We met in July.",
      "Yes, we did.",
      "And then he left.",
    ]);
    await editor.send("DELETE", path);
    expect(await refusalOf(await client.fetch(`/transcriptions/${id}/revisions/1`))).toBe("404 not_found");
  });

  test("of a transcript that nobody has corrected are none, and the recognized one can be read", async () => {
    const { path } = enter();
    expect(await editor.read(`${path}/revisions`)).toMatchObject({ data: [], revision: 0, has_more: false });
    expect((await editor.read<{ data: object[] }>(`${path}/revisions/0`)).data).toHaveLength(3);
    expect(await invalid(await client.fetch(`${path}/revisions/1`))).toStartWith("422 number:");
  });

  test("are restored as a new revision", async () => {
    const { path, segments } = await corrected();
    const restore = (number: number, revision?: number) =>
      editor.send("POST", `${path}/revisions/${number}/restore`, undefined, revision);
    expect(await refusalOf(await restore(0))).toBe("428 precondition_required");
    expect(await refusalOf(await restore(0, 2))).toBe("412 precondition_failed");
    expect(await invalid(await restore(9, 3))).toStartWith("422 number:");
    expect(await revisionOf(await restore(0, 3))).toBe(4);
    expect(await segments()).toEqual(["A We met in June.", "B Yes, we did.", "A And then he left."]);
    expect(await editor.read(`${path}/revisions`)).toMatchObject({
      data: [{ number: 4, action: "restore" }, {}, {}, {}],
    });
  });

  const long = async () => {
    const id = enterSaid(
      server,
      client.accountId,
      Array.from({ length: 250 }, (_, index) => `Sentence ${index}.`),
    );
    const path = `/transcriptions/${id}`;
    let revision = 0;
    for (let from = 0; from < 250; from += 50) {
      const corrections = Array.from({ length: 50 }, (_, place) => ({
        index: from + place,
        text: `Changed ${place}.`,
      }));
      revision = await revisionOf(await editor.send("POST", `${path}/corrections`, { corrections }, revision));
    }
    return { id, path, revision };
  };

  test("of a long transcript are restored in several", async () => {
    const { id, path, revision } = await long();
    const restored = await revisionOf(await editor.send("POST", `${path}/revisions/0/restore`, undefined, revision));
    expect(restored).toBe(revision + 3);
    expect((await client.segments(id)).at(-1)?.text).toBe("Sentence 249.");
  });

  test("of a long transcript are restored no further when a person corrects it meanwhile", async () => {
    const { id, path, revision } = await long();
    const person = { kind: "operator", actor: "operator" } as const;
    const correctOnce = (from: number) => {
      if (server.recordings.get(id)?.revision !== from) {
        setImmediate(() => correctOnce(from));
        return;
      }
      const correction = { action: "text", segment: 240, text: "By a person." } as const;
      server.appOptions.library.revisions.correct(person, id, correction, {
        editor: "page-one",
        sequence: 1,
        seen: from,
      });
    };
    correctOnce(revision + 1);
    const response = await editor.send("POST", `${path}/revisions/0/restore`, undefined, revision);
    expect(await refusalOf(response)).toBe("412 precondition_failed");
    expect((await client.segments(id))[240]?.text).toBe("By a person.");
    const { data } = await editor.read<{ data: { author: string }[] }>(`${path}/revisions?limit=2`);
    expect(data.map(({ author }) => author)).toEqual(["the operator", "the key reports"]);
  });
});
