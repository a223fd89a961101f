import { afterAll, describe, expect, test } from "bun:test";
import { errorOf } from "../../harness/client.ts";
import { type AccountChanges, changeAccount } from "../../src/accounts/index.ts";
import { ApiServer } from "../support/http.ts";
import { refusalOf } from "../support/secrets.ts";

const server = new ApiServer({ limits: { requests_per_minute: 30 } });
afterAll(() => server[Symbol.dispose]());
const start = Date.parse("2026-11-21T08:00:00Z");
server.now = () => start;
const client = server.client("first");
const own = server.enterCompleted(client.accountId, 1);
const change = (changes: AccountChanges) =>
  void changeAccount(server.store, server.account("first"), server.operator(), {
    standing: "active",
    subscribedUntil: null,
    ...changes,
  });

describe("an account that may not use the API", () => {
  const refused: [string, AccountChanges, string][] = [
    ["a guest", { standing: "guest" }, "guest_account_not_supported"],
    ["a restricted one", { standing: "restricted" }, "account_restricted"],
    ["one without a subscription", { subscribedUntil: 0 }, "subscription_required"],
    ["one whose subscription ends now", { subscribedUntil: start }, "subscription_required"],
    ["a guest without a subscription", { standing: "guest", subscribedUntil: 0 }, "guest_account_not_supported"],
    ["a restricted one without", { standing: "restricted", subscribedUntil: 0 }, "account_restricted"],
  ];
  for (const [what, changes, code] of refused) {
    test(`${what}: 403 ${code} with docs on this server, and its key works again afterwards`, async () => {
      change(changes);
      const { error, docs, errors, required } = await errorOf(await client.fetch("/languages"), 403);
      expect([error, errors, required]).toEqual([code, undefined, undefined]);
      expect(docs).toStartWith(`${server.origin}/docs`);
      change({});
      expect((await client.fetch("/languages")).status).toBe(200);
    });

    test(`${what} is told so whatever it asks for, and spends no requests`, async () => {
      change(changes);
      server.advance(120_000);
      for (const path of ["/languages", "/nothing", `/transcriptions/${own}`, "/transcriptions?limit=0"]) {
        for (const method of ["GET", "DELETE", "POST", "PATCH"]) {
          for (let count = 0; count < 2; count++) {
            const response = await client.fetch(path, { method });
            expect([path, method, await refusalOf(response)]).toEqual([path, method, `403 ${code}`]);
            expect(response.headers.get("ratelimit")).toBeNull();
          }
        }
      }
      change({});
      server.now = () => start;
    });
  }

  test("is refused from the end of its subscription on, to the millisecond", async () => {
    change({ subscribedUntil: start + 1000 });
    server.now = () => start + 999;
    expect((await client.fetch("/languages")).status).toBe(200);
    server.now = () => start + 1000;
    expect(await refusalOf(await client.fetch("/languages"))).toBe("403 subscription_required");
    change({});
    server.now = () => start;
  });

  test("can read the documentation in its refusal without a key", async () => {
    change({ standing: "guest" });
    const { docs } = await errorOf(await client.fetch("/languages"), 403);
    change({});
    expect((await fetch(docs ?? "")).status).toBe(200);
  });

  test("does not affect another account", async () => {
    change({ standing: "restricted" });
    expect((await server.client("second").fetch("/languages")).status).toBe(200);
    change({});
  });
});
