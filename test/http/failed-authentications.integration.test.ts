import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { changeAccount } from "../../src/accounts/index.ts";
import { revokeKey } from "../../src/keys/index.ts";
import { ApiServer } from "../support/http.ts";
import { refusalOf } from "../support/secrets.ts";

const start = Date.parse("2026-11-21T08:00:00Z");
const noKey = {};
const wrongKey = { headers: { authorization: "Bearer wrong" } };

describe("failed authentications", () => {
  let server: ApiServer;
  beforeEach(() => {
    server = new ApiServer({ limits: { failed_authentications_per_minute: 20 } });
    server.now = () => start;
  });
  afterEach(() => server[Symbol.dispose]());

  const ask = (init: RequestInit = noKey, path = "/languages") => fetch(server.baseUrl + path, init);
  const failTimes = async (count: number, init?: RequestInit) => {
    for (let done = 0; done < count; done++) expect(await refusalOf(await ask(init))).toStartWith("401 ");
  };

  test("are answered 401 up to twenty within a minute, then 429 without a challenge", async () => {
    await failTimes(20);
    const response = await ask();
    expect(response.headers.get("retry-after")).toBe("60");
    expect(response.headers.get("www-authenticate")).toBeNull();
    expect(await refusalOf(response)).toBe("429 rate_limited");
  });

  test("count alike for a missing, a wrong and a revoked key, on any path and with any method", async () => {
    const revoked = server.client("first");
    revokeKey(server.store, revoked.keyId, server.operator());
    const kinds = [noKey, wrongKey, { headers: { authorization: `Bearer ${revoked.key}` } }, { method: "POST" }];
    for (let count = 0; count < 5; count++) {
      for (const init of kinds) expect(await refusalOf(await ask(init, `/x${count}`))).toStartWith("401 ");
    }
    for (const init of kinds) expect(await refusalOf(await ask(init))).toBe("429 rate_limited");
  });

  test("have an exact Retry-After, which refused requests do not extend", async () => {
    await failTimes(5);
    server.advance(20_500);
    await failTimes(15);
    const response = await ask();
    expect(response.headers.get("retry-after")).toBe("40");
    server.advance(39_000);
    for (let count = 0; count < 30; count++) {
      const early = await ask(wrongKey);
      expect([await refusalOf(early), early.headers.get("retry-after")]).toEqual(["429 rate_limited", "1"]);
    }
    server.advance(1_000);
    await failTimes(5);
    expect((await ask()).headers.get("retry-after")).toBe("20");
  });

  test("never cause a valid key to be refused", async () => {
    const client = server.client("first");
    await failTimes(20);
    expect(await refusalOf(await ask())).toBe("429 rate_limited");
    for (let count = 0; count < 30; count++) expect((await client.fetch("/languages")).status).toBe(200);
    expect(await refusalOf(await client.fetch("/nothing"))).toBe("404 not_found");
  });

  test("do not include a valid key of a restricted account or a missing scope", async () => {
    const guest = server.client("guest");
    changeAccount(server.store, server.account("guest"), server.operator(), { standing: "guest" });
    const narrow = server.client("first", { scopes: ["transcriptions:read"] });
    for (let count = 0; count < 30; count++) {
      expect(await refusalOf(await guest.fetch("/languages"))).toBe("403 guest_account_not_supported");
      expect(await refusalOf(await narrow.fetch("/transcriptions", { method: "POST" }))).toBe("403 insufficient_scope");
    }
    await failTimes(20);
  });

  test("do not include requests that need no key", async () => {
    for (let count = 0; count < 30; count++) {
      expect((await ask({ method: "OPTIONS" })).status).toBe(405);
      expect((await fetch(`${server.origin}/healthz`, wrongKey)).status).toBe(200);
    }
    await failTimes(20);
    expect((await ask()).status).toBe(429);
    expect((await fetch(`${server.origin}/healthz`)).status).toBe(200);
    expect((await ask({ method: "OPTIONS" })).status).toBe(405);
  });
});
