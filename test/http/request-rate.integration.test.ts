import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { changeAccount } from "../../src/accounts/index.ts";
import { ApiServer, type KeyClient } from "../support/http.ts";
import { refusalOf } from "../support/secrets.ts";

const start = Date.parse("2026-11-21T08:00:00Z");

describe("the requests of a key", () => {
  let server: ApiServer;
  let client: KeyClient;
  beforeEach(() => {
    server = new ApiServer({ limits: { requests_per_minute: 120 } });
    server.now = () => start;
    client = server.client("first");
  });
  afterEach(() => server[Symbol.dispose]());

  const spend = async (count: number) => {
    for (let done = 0; done < count; done++) expect((await client.fetch("/languages")).status).toBe(200);
  };
  const setOwnLimit = (requests_per_minute: number) =>
    changeAccount(server.store, server.account("first"), server.operator(), { limits: { requests_per_minute } });

  test("pass up to 120 within a minute; the 121st is answered 429, whatever it requests", async () => {
    await spend(120);
    for (const [path, method] of [
      ["/languages", "GET"],
      ["/nothing", "GET"],
      ["/languages", "DELETE"],
      ["/transcriptions/x", "GET"],
      ["/transcriptions?limit=0", "GET"],
      ["/transcriptions", "POST"],
    ] as const) {
      expect([path, await refusalOf(await client.fetch(path, { method }))]).toEqual([path, "429 rate_limited"]);
    }
  });

  test("all count, successful or not, except preflight requests", async () => {
    const narrow = server.client("first", { scopes: ["transcriptions:write"] });
    const asked: [string, RequestInit, number][] = [
      ["/languages", {}, 200],
      ["/languages", { method: "HEAD" }, 200],
      ["/nothing", {}, 404],
      ["/languages", { method: "PUT" }, 405],
      ["/transcriptions", {}, 403],
      ["/transcriptions", { method: "POST", body: "x" }, 400],
    ];
    for (let round = 0; round < 20; round++) {
      for (const [path, init, status] of asked) expect((await narrow.fetch(path, init)).status).toBe(status);
      expect((await narrow.fetch("/languages", { method: "OPTIONS" })).status).toBe(405);
    }
    expect(await refusalOf(await narrow.fetch("/languages"))).toBe("429 rate_limited");
  });

  test("have an exact Retry-After", async () => {
    await spend(60);
    server.advance(45_250);
    await spend(60);
    const refused = await client.fetch("/languages");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "15"]);
    server.advance(14_000);
    const early = await client.fetch("/languages");
    expect([early.status, early.headers.get("retry-after")]).toEqual([429, "1"]);
    server.advance(1_000);
    await spend(60);
    expect((await client.fetch("/languages")).headers.get("retry-after")).toBe("45");
  });

  test("do not count for another key of the account", async () => {
    await spend(120);
    expect((await client.fetch("/languages")).status).toBe(429);
    expect((await server.client("first").fetch("/languages")).status).toBe(200);
  });

  test("follow a changed limit of their account from the next request on", async () => {
    await spend(5);
    setOwnLimit(5);
    expect((await client.fetch("/languages")).status).toBe(429);
    setOwnLimit(7);
    await spend(2);
    expect((await client.fetch("/languages")).status).toBe(429);
    setOwnLimit(1);
    server.advance(60_000);
    await spend(1);
    expect((await client.fetch("/languages")).status).toBe(429);
    setOwnLimit(200);
    await spend(199);
    expect((await client.fetch("/languages")).status).toBe(429);
  });

  test("report quota, window and remaining requests in RateLimit-Policy and RateLimit of every answer", async () => {
    const answers: [string, RequestInit, string][] = [
      ["/languages", {}, '"requests";r=119;t=60'],
      ["/nothing", {}, '"requests";r=118;t=60'],
      ["/languages", { method: "PUT" }, '"requests";r=117;t=60'],
      ["/transcriptions?limit=0", {}, '"requests";r=116;t=60'],
    ];
    for (const [path, init, left] of answers) {
      const { headers } = await client.fetch(path, init);
      expect(headers.get("ratelimit-policy")).toBe('"requests";q=120;w=60');
      expect(headers.get("ratelimit")).toBe(left);
    }
    await spend(116);
    server.advance(12_000);
    const refused = await client.fetch("/languages");
    expect(refused.headers.get("ratelimit-policy")).toBe('"requests";q=120;w=60');
    expect(refused.headers.get("ratelimit")).toBe('"requests";r=0;t=48');
    expect(refused.headers.get("retry-after")).toBe("48");
  });

  test("report no limits without a key", async () => {
    const { headers } = await fetch(`${server.baseUrl}/languages`);
    expect([headers.get("ratelimit"), headers.get("ratelimit-policy")]).toEqual([null, null]);
  });
});
