import { afterAll, describe, expect, test } from "bun:test";
import { errorOf } from "../../harness/client.ts";
import { revokeKey } from "../../src/keys/index.ts";
import { ApiServer } from "../support/http.ts";

const server = new ApiServer();
afterAll(() => server[Symbol.dispose]());
const client = server.client("first");

const ask = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  fetch(server.baseUrl + path, { method, headers });

describe("a request without a valid key", () => {
  const refused: [string, string | undefined, string][] = [
    ["no Authorization", undefined, "missing_api_key"],
    ["an empty one", "", "invalid_api_key"],
    ["another scheme", `Basic ${btoa(`user:${client.key}`)}`, "invalid_api_key"],
    ["a bare key", client.key, "invalid_api_key"],
    ["Bearer without a key", "Bearer ", "invalid_api_key"],
    ["no key of ours", "Bearer something", "invalid_api_key"],
    ["a key that was never given out", `Bearer trs_${"0".repeat(49)}`, "invalid_api_key"],
    [
      "a key with a typing error",
      `Bearer ${client.key.slice(0, -1)}${client.key.endsWith("a") ? "b" : "a"}`,
      "invalid_api_key",
    ],
    ["a key in other letters", `Bearer ${client.key.toUpperCase()}`, "invalid_api_key"],
    ["two keys", `Bearer ${client.key} ${client.key}`, "invalid_api_key"],
  ];
  for (const [what, authorization, code] of refused) {
    test(`${what}: 401 ${code}, with a challenge`, async () => {
      const response = await ask("/languages", authorization === undefined ? {} : { authorization });
      expect(response.headers.get("www-authenticate")).toBe("Bearer");
      const { error, message } = await errorOf(response, 401);
      expect(error).toBe(code);
      expect(message).not.toContain(client.key);
    });
  }

  test("the authentication scheme is case-insensitive", async () => {
    expect((await ask("/languages", { authorization: `bEARER ${client.key}` })).status).toBe(200);
  });

  test("a client without a key gets the same answer for every path, method, body and query under the base path", async () => {
    const cases = [
      ["GET", "/no-such-path"],
      ["GET", ""],
      ["GET", "/"],
      ["GET", "/transcriptions/01a1fdc0-124d-7402-8bf5-0f9242fc9f59"],
      ["GET", "/transcriptions/x/segments?limit=0"],
      ["DELETE", "/languages"],
      ["POST", "/transcriptions"],
      ["PATCH", "/transcriptions"],
    ] as const;
    for (const [method, path] of cases) {
      expect((await errorOf(await ask(path, {}, method), 401)).error).toBe("missing_api_key");
    }
  });

  test("a path that only shares the base path's prefix needs no key", async () => {
    expect((await errorOf(await ask("-and-more"), 404)).error).toBe("not_found");
  });

  test("a revoked key is refused from the next request on, and other keys are not", async () => {
    const leaked = server.client("first");
    expect((await leaked.fetch("/languages")).status).toBe(200);
    revokeKey(server.store, leaked.keyId, { actor: "operator", now: Date.now() });
    expect((await errorOf(await leaked.fetch("/languages"), 401)).error).toBe("invalid_api_key");
    expect((await client.fetch("/languages")).status).toBe(200);
  });
});

describe("recordings of other accounts", () => {
  test("an unknown id, a malformed id and another account's recording give the same 404", async () => {
    const stranger = server.client("second");
    const theirs = server.enterCompleted(stranger.accountId, 1);
    expect((await stranger.fetch(`/transcriptions/${theirs}`)).status).toBe(200);
    const ids = [theirs, Bun.randomUUIDv7(), "42", theirs.toUpperCase(), `${theirs}0`, "%00", "x%2fhealthz", "é"];
    const bodies = new Set<string>();
    for (const path of ids.flatMap((id) => [`/transcriptions/${id}`, `/transcriptions/${id}/segments`])) {
      const response = await client.fetch(path);
      expect([path, response.status]).toEqual([path, 404]);
      bodies.add(await response.text());
    }
    expect([...bodies].map((body) => JSON.parse(body))).toEqual([{ error: "not_found", message: expect.any(String) }]);
  });

  test("an invalid query does not reveal whether a recording exists", async () => {
    const response = await client.fetch(`/transcriptions/${Bun.randomUUIDv7()}/segments?limit=0`);
    expect((await errorOf(response, 404)).error).toBe("not_found");
  });
});
