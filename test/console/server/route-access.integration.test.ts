import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { recordingPageSchema, routes, uploadOptionsSchema } from "../../../src/console/contract/index.ts";
import { createKey } from "../../../src/keys/index.ts";
import { type Browser, ConsoleServer } from "../../support/console.ts";
import { signedIn } from "./people.ts";

setDefaultTimeout(60_000);

const visitors = ["nobody", "reader", "member", "stranger", "operator"] as const;

/** The status that each visitor gets; `stranger` is a member of another account than the recording's. */
type Row = readonly [route: string, ...statuses: number[]];

/**
 * Every data route with the answers for: a browser without a session, a reader and a member of the recording's account, a
 * member of another account, and an operator. A recording of another account does not exist for its visitor.
 */
const table: readonly Row[] = [
  ["GET /sign-in-methods", 200, 200, 200, 200, 200],
  ["POST /session", 422, 422, 422, 422, 422],
  ["POST /provider-sign-in", 422, 422, 422, 422, 422],
  ["GET /session", 401, 200, 200, 200, 200],
  ["GET /overview", 401, 403, 403, 403, 200],
  ["GET /events", 401, 403, 403, 403, 200],
  ["GET /upload-options", 401, 200, 200, 200, 200],
  ["GET /recordings", 401, 200, 200, 200, 200],
  ["POST /recordings", 401, 403, 201, 422, 201],
  ["GET /recordings/:id", 401, 200, 200, 404, 200],
  ["GET /recordings/:id/segments", 401, 200, 200, 404, 200],
  ["GET /recordings/:id/outline", 401, 200, 200, 404, 200],
  ["GET /recordings/:id/find", 401, 200, 200, 404, 200],
  ["GET /recordings/:id/playback", 401, 200, 200, 404, 200],
  // The recordings of this test have no audio, of which only people who see them learn.
  ["GET /recordings/:id/audio", 401, 409, 409, 404, 409],
  ["GET /recordings/:id/waveform", 401, 409, 409, 404, 409],
  ["GET /recordings/:id/exports/:format", 401, 200, 200, 404, 200],
  ["PUT /recordings/:id/speakers", 401, 403, 200, 404, 200],
  ["GET /recordings/:id/processing", 401, 403, 200, 404, 200],
  // The recordings of this test have no audio, and are not processed again.
  ["POST /recordings/:id/processing", 401, 403, 409, 404, 409],
  ["DELETE /recordings/:id/processing", 401, 403, 409, 404, 409],
  ["POST /recordings/:id/corrections", 401, 403, 200, 404, 200],
  ["GET /recordings/:id/changes", 401, 200, 200, 404, 200],
  ["GET /recordings/:id/revisions", 401, 200, 200, 404, 200],
  ["GET /recordings/:id/comparison", 401, 200, 200, 404, 200],
  ["GET /recordings/:id/replacements", 401, 200, 200, 404, 200],
  ["DELETE /recordings/:id", 401, 403, 204, 404, 204],
  // The account does not remember voices, of which only people who may change the recording learn.
  ["POST /recordings/:id/voices", 401, 403, 409, 404, 409],
  ["POST /recordings/:id/proposals", 401, 403, 409, 404, 409],
  ["GET /accounts", 401, 403, 403, 403, 200],
  ["GET /accounts/:id/voices", 401, 403, 403, 403, 200],
  ["GET /recordings/:id/live-comparison", 401, 200, 200, 404, 200],
  // The request asks for no WebSocket. A member of another account does not learn of the account.
  ["GET /live", 401, 403, 426, 422, 426],
  ["PUT /voices/:id", 401, 403, 403, 403, 404],
  ["DELETE /voices/:id", 401, 403, 403, 403, 404],
  ["GET /accounts/:id/webhooks", 401, 403, 403, 403, 200],
  ["POST /accounts/:id/webhooks", 401, 403, 403, 403, 201],
  // The webhook does not exist, of which only operators learn.
  ["POST /webhooks/:id/tests", 401, 403, 403, 403, 404],
  ["POST /webhooks/:id/secrets", 401, 403, 403, 403, 404],
  ["PUT /webhooks/:id", 401, 403, 403, 403, 404],
  ["DELETE /webhooks/:id", 401, 403, 403, 403, 404],
  ["POST /keys", 401, 403, 403, 403, 201],
  ["DELETE /keys/:id", 401, 403, 403, 403, 200],
  // The last row, because it ends the sessions.
  ["DELETE /session", 401, 200, 200, 200, 200],
];

/** The query that a route requires. */
const queries: Readonly<Record<string, string>> = {
  "GET /recordings/:id/find": "?q=x",
  "GET /recordings/:id/changes": "?seen=0&editor=page-one",
  "GET /recordings/:id/comparison": "?revision=0",
  "GET /recordings/:id/replacements": "?find=x&replacement=y",
};

describe("the routes of the console", () => {
  let server: ConsoleServer;
  const browsers = new Map<(typeof visitors)[number], Browser>();
  const browserOf = (visitor: (typeof visitors)[number]) => browsers.get(visitor) ?? server.stranger();
  beforeAll(async () => {
    server = new ConsoleServer({ recordingsPerAccount: 100 });
    browsers.set("reader", await signedIn(server, "reader@example.org", "reader", ["acme"]));
    browsers.set("member", await signedIn(server, "member@example.org", "member", ["acme"]));
    browsers.set("stranger", await signedIn(server, "stranger@example.org", "member", ["other"]));
    browsers.set("operator", await signedIn(server, "operator@example.org", "operator", []));
  });
  afterAll(() => server[Symbol.dispose]());

  /** Requests a route for a new recording and a new key of the account acme. */
  const request = async (browser: Browser, route: string): Promise<Response> => {
    const { api } = server;
    const account = api.account("acme");
    const [method = "", pattern = ""] = route.split(" ");
    const ids: Readonly<Record<string, () => string>> = {
      keys: () => createKey(api.store, account, { name: "old" }, api.operator()).key.id,
      accounts: () => account.id,
      voices: () => Bun.randomUUIDv7(),
      webhooks: () => Bun.randomUUIDv7(),
    };
    const id = (ids[pattern.split("/")[1] ?? ""] ?? (() => api.enterCompleted(account.id, 1)))();
    const path = pattern.replace(":id", id).replace(":format", "txt") + (queries[route] ?? "");
    const form = new FormData();
    form.set("url", "https://media.example.org/a.mp3");
    const bodies: Readonly<Record<string, FormData | string>> = {
      "POST /recordings": form,
      "PUT /recordings/:id/speakers": JSON.stringify({ names: { 0: "Ann" } }),
      "POST /recordings/:id/processing": JSON.stringify({ model: "whisper-base", language: null }),
      "POST /recordings/:id/corrections": JSON.stringify({
        ...{ editor: "page-one", sequence: 1, seen: 0, shown: 0 },
        correction: { action: "text", segment: 0, text: "Corrected." },
      }),
      "POST /recordings/:id/voices": JSON.stringify({ speaker: "A" }),
      "POST /recordings/:id/proposals": JSON.stringify({ speaker: "A", voice: Bun.randomUUIDv7(), confirmed: true }),
      "PUT /voices/:id": JSON.stringify({ name: "Anna" }),
      "POST /accounts/:id/webhooks": JSON.stringify({
        url: "https://app.example.org/hook",
        events: ["recording.completed"],
      }),
      "PUT /webhooks/:id": JSON.stringify({ paused: true }),
      "POST /keys": JSON.stringify({ account: account.id, name: "new" }),
    };
    const body = bodies[route] ?? (method === "POST" ? "{}" : null);
    const query = ["POST /recordings", "GET /live"].includes(route) ? `?account=${account.id}` : "";
    return await browser.data(`${path}${query}`, { method, body });
  };

  test("are all in the table, which has no others", () => {
    const listed: readonly string[] = table.map(([route]) => route).sort();
    expect(listed).toEqual(
      Object.values(routes)
        .map(({ at }) => at)
        .sort(),
    );
    const served = server.console?.routes.filter((route) => route.includes(" /console/data/")) ?? [];
    expect(listed).toEqual(served.map((route) => route.replace("/console/data", "")).sort());
  });

  test.each(table)("give each visitor the answer of the table: %s", async (route, ...expected) => {
    const answers: number[] = [];
    for (const visitor of visitors) {
      const answer = await request(browserOf(visitor), route);
      answers.push(answer.status);
      await answer.body?.cancel();
    }
    expect(answers).toEqual(expected);
  });
});

test("an unknown path is no secret of operators, and no path leads past the table", async () => {
  using server = new ConsoleServer();
  const reader = await signedIn(server, "reader@example.org", "reader", ["acme"]);
  const operator = await server.operator();
  const paths = [
    "/nothing",
    "/overview/",
    "//overview",
    "/OVERVIEW",
    "/%6fverview",
    "/recordings/../overview",
    "/accounts?x",
  ];
  for (const path of paths) {
    const status = (await reader.data(path)).status;
    expect([path, [400, 403, 404].includes(status)]).toEqual([path, true]);
  }
  expect((await operator.data("/nothing")).status).toBe(404);
});

describe("a member of two accounts", () => {
  test("lists and searches the recordings of both, newest first, and of no other", async () => {
    using server = new ConsoleServer();
    const ids: string[] = [];
    for (const account of ["one", "two", "three", "one", "two"]) {
      ids.push(await server.enterSaid(account, ["hello world"], `Of ${account}`));
    }
    const seen = [ids[4], ids[3], ids[1], ids[0]];
    const member = await signedIn(server, "member@example.org", "member", ["one", "two"]);
    const idsAt = async (query: string) => {
      const page = await member.read(`/recordings?${query}`, recordingPageSchema);
      return { ids: page.recordings.map(({ id }) => id), next: page.next_cursor };
    };
    expect((await idsAt("")).ids).toEqual(seen as string[]);
    expect((await idsAt("q=hello")).ids).toEqual(seen as string[]);
    expect((await idsAt("status=completed")).ids).toEqual(seen as string[]);
    const { id: one } = server.api.account("one");
    const { id: three } = server.api.account("three");
    expect((await idsAt(`account=${one}`)).ids).toEqual([ids[3], ids[0]] as string[]);
    for (const query of [`account=${three}`, `account=${three}&q=hello`, "status=failed"]) {
      expect((await idsAt(query)).ids).toEqual([]);
    }
    const first = await idsAt("limit=3");
    expect(first.ids).toEqual(seen.slice(0, 3) as string[]);
    expect((await idsAt(`limit=3&cursor=${first.next}`)).ids).toEqual(seen.slice(3) as string[]);
    const options = await member.read("/upload-options", uploadOptionsSchema);
    expect(options.accounts.map(({ name }) => name)).toEqual(["one", "two"]);
  });

  test("loses the recordings of an account that is deleted, and sees later ones only with all accounts", async () => {
    using server = new ConsoleServer();
    const { api } = server;
    const member = await signedIn(server, "member@example.org", "member", ["one", "two"]);
    const everywhere = await signedIn(server, "reader@example.org", "reader", "all");
    const id = api.enterCompleted(api.account("one").id, 1);
    const later = api.enterCompleted(api.account("later").id, 1);
    expect((await member.data(`/recordings/${later}`)).status).toBe(404);
    expect((await everywhere.data(`/recordings/${later}`)).status).toBe(200);
    await api.removeAccount(api.account("one"));
    expect((await member.data(`/recordings/${id}`)).status).toBe(404);
    const rows = api.store.$client.query("SELECT count(*) AS rows FROM user_accounts").get();
    expect(rows).toEqual({ rows: 1 });
  });
});

test("a member learns neither the cause of a failure nor the machine's problems, an operator does", async () => {
  using server = new ConsoleServer();
  const { api } = server;
  const member = await signedIn(server, "member@example.org", "member", ["acme"]);
  const operator = await server.operator();
  const { id: account } = api.account("acme");
  const failed = api.enterFailed(account);
  const waiting = api.enterQueued(account);
  server.troubles.set(waiting, "disk_full");
  const read = async (browser: Browser, id: string) => await (await browser.data(`/recordings/${id}`)).json();
  expect(await read(operator, failed)).toMatchObject({ failure: { cause: "fetch_blocked_address" } });
  expect(await read(member, failed)).toMatchObject({ failure: { reason: "internal", cause: null } });
  expect(await read(operator, waiting)).toMatchObject({ problem: expect.any(String) });
  expect(await read(member, waiting)).toMatchObject({ problem: null });
  expect(await (await member.data("/recordings")).text()).not.toContain("fetch_blocked_address");
});
