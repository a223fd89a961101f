import { afterAll, describe, expect, test } from "bun:test";
import { TestClient } from "../../harness/client.ts";
import { revokeKey, rotateKey } from "../../src/keys/index.ts";
import { ApiServer } from "../support/http.ts";
import { refusalOf } from "../support/secrets.ts";

const start = Date.parse("2026-11-21T08:00:00Z");
const hour = 3_600_000;
const server = new ApiServer();
server.now = () => start;
afterAll(() => server[Symbol.dispose]());

const refusal = async (client: TestClient) => {
  const response = await client.fetch("/languages");
  if (response.ok) return "200";
  expect(response.headers.get("www-authenticate")).toBe("Bearer");
  return refusalOf(response, client.key);
};

describe("an API key", () => {
  test("is accepted until it expires, and not a millisecond longer", async () => {
    const client = server.client("first", { expiresAt: start + hour });
    for (const [at, outcome] of [
      [start, "200"],
      [start + hour - 1, "200"],
      [start + hour, "401 invalid_api_key"],
      [start + 10 * hour, "401 invalid_api_key"],
    ] as const) {
      server.now = () => at;
      expect([at - start, await refusal(client)]).toEqual([at - start, outcome]);
    }
    server.now = () => start;
  });

  test("is accepted beside its successor until the overlap ends; the successor has the same rights", async () => {
    const workspace = server.workspace("first", "sales");
    const old = server.client("first", { workspace, scopes: ["transcriptions:read"] });
    const inside = server.enterCompleted(old.accountId, 1, { workspaceId: workspace.id });
    const outside = server.enterCompleted(old.accountId, 1);
    const { secret } = rotateKey(server.store, old.keyId, 12 * hour, server.operator());
    const next = new TestClient(server.baseUrl, secret);
    for (const [at, ofOld] of [
      [start, "200"],
      [start + 12 * hour - 1, "200"],
      [start + 12 * hour, "401 invalid_api_key"],
    ] as const) {
      server.now = () => at;
      expect([await refusal(old), await refusal(next)]).toEqual([ofOld, "200"]);
    }
    expect((await next.fetch(`/transcriptions/${inside}`)).status).toBe(200);
    expect(await refusalOf(await next.fetch(`/transcriptions/${outside}`))).toBe("403 workspace_scope_mismatch");
    expect(await refusalOf(await next.fetch("/transcriptions", { method: "POST" }))).toBe("403 insufficient_scope");
    server.now = () => start;
  });

  test("is refused from the next request on if it is rotated without an overlap", async () => {
    const old = server.client("first");
    const { secret } = rotateKey(server.store, old.keyId, 0, server.operator());
    expect(await refusal(old)).toBe("401 invalid_api_key");
    expect(await refusal(new TestClient(server.baseUrl, secret))).toBe("200");
  });

  test("gets the same answer if it is unknown, revoked or expired", async () => {
    const revoked = server.client("first");
    revokeKey(server.store, revoked.keyId, server.operator());
    const expired = server.client("first", { expiresAt: start });
    const unknown = new TestClient(server.baseUrl, `trs_${"0".repeat(49)}`);
    const bodies = [revoked, expired, unknown].map(async (client) => (await client.fetch("/languages")).text());
    expect(new Set(await Promise.all(bodies)).size).toBe(1);
  });

  test("is never logged", async () => {
    const client = server.client("first");
    await client.fetch("/languages");
    await client.fetch(`/transcriptions?cursor=${client.key}`);
    const log = JSON.stringify(server.log);
    expect(log).toContain(client.keyId);
    expect(log).not.toContain(client.key.slice(4));
  });
});
