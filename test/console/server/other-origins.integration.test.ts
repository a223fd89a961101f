import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { consolePath } from "../../../src/console/index.ts";
import { createKey } from "../../../src/keys/index.ts";
import { ConsoleServer } from "../../support/console.ts";

setDefaultTimeout(60_000);

/** Headers that another origin's page can make a signed-in browser send, if the cookie came along despite SameSite. */
const foreign: [string, Record<string, string>][] = [
  ["another site", { "Sec-Fetch-Site": "cross-site", Origin: "https://evil.example" }],
  ["another site, by a form without a script", { "Sec-Fetch-Site": "cross-site", Origin: "null" }],
  ["another host of the same site", { "Sec-Fetch-Site": "same-site" }],
  ["another port of this host", { "Sec-Fetch-Site": "same-site", Origin: "http://127.0.0.1:1" }],
  ["another site, over plain HTTP", { "Sec-Fetch-Site": "", Origin: "http://evil.example" }],
  ["a sandboxed frame, over plain HTTP", { "Sec-Fetch-Site": "", Origin: "null" }],
  ["another scheme, over plain HTTP", { "Sec-Fetch-Site": "", Origin: "https://127.0.0.1" }],
];

/** Headers of requests that lack a mark of the console's own page. */
const incomplete: [string, Record<string, string>][] = [
  ["without the console's header", { "X-Transcribe-Console": "" }],
  ["with another value of it", { "X-Transcribe-Console": "0" }],
  ["that was typed in", { "Sec-Fetch-Site": "none" }],
  ["that doesn't say where from", { "Sec-Fetch-Site": "", Origin: "" }],
];

/** Every route of the console that changes something. */
const acts = (server: ConsoleServer) => {
  const { api } = server;
  const account = api.account("first");
  const recording = api.enterCompleted(account.id, 1);
  const { key } = createKey(api.store, account, { name: "old" }, api.operator());
  const form = new FormData();
  form.set("url", "https://media.example.org/a.mp3");
  return [
    ["POST", "/keys", JSON.stringify({ account: account.id, name: "new" }), 201],
    ["DELETE", `/keys/${key.id}`, null, 200],
    ["PUT", `/recordings/${recording}/speakers`, JSON.stringify({ names: { 0: "Ann" } }), 200],
    ["DELETE", `/recordings/${recording}`, null, 204],
    ["POST", `/recordings?account=${account.id}`, form, 201],
    ["DELETE", "/session", null, 200],
  ] as const;
};

/** Returns the state of the server that a successful request would change. */
function stateOf({ api }: ConsoleServer): unknown {
  const all = (table: string) => api.store.$client.query(`SELECT * FROM ${table}`).all();
  return ["recordings", "api_keys", "speaker_names", "console_sessions", "audit_log"].map(all);
}

describe.each([...foreign, ...incomplete])("a request from %s", (_what, headers) => {
  test("changes nothing, though it has the cookie of a session", async () => {
    using server = new ConsoleServer();
    const browser = await server.operator();
    const requests = acts(server);
    const before = stateOf(server);
    for (const [method, path, body] of requests) {
      expect(await browser.refusal(browser.data(path, { method, body, headers }), 403)).toBe("not_from_here");
    }
    expect(stateOf(server)).toEqual(before);
  });

  test("signs nobody in", async () => {
    using server = new ConsoleServer();
    const browser = server.stranger();
    const answer = await browser.data("/session", { method: "POST", body: '{"token":"x"}', headers });
    expect(await browser.refusal(answer, 403)).toBe("not_from_here");
  });
});

test("the same requests succeed when the console's own page sends them", async () => {
  using server = new ConsoleServer();
  const browser = await server.operator();
  for (const [method, path, body, status] of acts(server)) {
    expect([path, (await browser.data(path, { method, body })).status]).toEqual([path, status]);
  }
});

describe.each(foreign.slice(0, 4))("a page from %s", (_what, headers) => {
  test("reads nothing, though it has the cookie of a session", async () => {
    using server = new ConsoleServer();
    const browser = await server.operator();
    const id = await server.enterSaid("first", ["secret words"]);
    const paths = ["overview", "events", "recordings", `recordings/${id}`, `recordings/${id}/segments`, "accounts"];
    for (const path of [
      ...paths,
      `recordings/${id}/audio`,
      `recordings/${id}/exports/txt`,
      "session",
      "sign-in-methods",
    ]) {
      const answer = await browser.data(`/${path}`, { headers });
      expect(await browser.refusal(answer, 403)).toBe("not_from_here");
    }
  });
});

test("the page's own requests pass over plain HTTP, where browsers send fewer headers", async () => {
  using server = new ConsoleServer();
  const browser = await server.operator();
  const headers = { "Sec-Fetch-Site": "" };
  expect((await browser.data("/overview", { headers })).status).toBe(200);
  expect((await browser.data("/session", { method: "DELETE", headers })).status).toBe(200);
});

describe("no answer allows another origin", () => {
  const origins = ["https://evil.example", "null", "http://127.0.0.1:8787"];
  test.each(origins)("to %s, neither the console nor the API sends a CORS header", async (Origin) => {
    using server = new ConsoleServer();
    const browser = await server.operator();
    const { key } = server.api.client("first");
    const id = await server.enterSaid("first", ["hello"]);
    const ofConsole = [
      "",
      "/",
      "/assets/x.js",
      "/data/overview",
      "/data/sign-in-methods",
      `/data/recordings/${id}`,
      "/x",
    ];
    const ofApi = ["/transcriptions", `/transcriptions/${id}`, `/transcriptions/${id}/export?format=txt`, "/languages"];
    const paths = [
      ...ofConsole.map((path) => consolePath + path),
      ...ofApi.map((path) => `/api/public/v1${path}`),
      ...["/healthz", "/docs", "/openapi.json", "/nothing"],
    ];
    for (const path of paths)
      for (const method of ["GET", "OPTIONS", "POST", "PUT", "DELETE"]) {
        const headers = {
          ...{ Origin, Cookie: browser.cookie, Authorization: `Bearer ${key}` },
          ...{ "Access-Control-Request-Method": "DELETE", "Access-Control-Request-Headers": "x-transcribe-console" },
        };
        const answer = await fetch(server.origin + path, { method, headers, redirect: "manual" });
        await answer.body?.cancel();
        expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
        if (method === "OPTIONS") expect(answer.status).toBeGreaterThanOrEqual(400);
      }
  });
});
