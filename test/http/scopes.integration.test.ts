import { afterAll, describe, expect, test } from "bun:test";
import { errorOf } from "../../harness/client.ts";
import { type Scope, scopes } from "../../src/keys/index.ts";
import { ApiServer } from "../support/http.ts";

const server = new ApiServer();
afterAll(() => server[Symbol.dispose]());
const { accountId } = server.client("first");
const recording = server.enterCompleted(accountId, 1);
const running = server.enterProcessing(accountId);

describe("scopes", () => {
  const endpoints: [string, string, Scope, number][] = [
    ["POST", "/transcriptions", "transcriptions:write", 400],
    ["GET", "/transcriptions", "transcriptions:read", 200],
    ["GET", `/transcriptions/${recording}`, "transcriptions:read", 200],
    ["GET", `/transcriptions/${recording}/segments`, "transcriptions:read", 200],
    ["GET", `/transcriptions/${recording}/export?format=txt`, "transcriptions:read", 200],
    ["HEAD", `/transcriptions/${recording}`, "transcriptions:read", 200],
    ["DELETE", `/transcriptions/${running}`, "transcriptions:delete", 409],
  ];
  for (const [method, path, scope, status] of endpoints) {
    test(`${method} ${path.replaceAll(/[0-9a-f-]{36}/g, "ID")} takes ${scope} and no other`, async () => {
      const alone = server.client("first", { scopes: [scope] });
      expect((await alone.fetch(path, { method })).status).toBe(status);
      const others = server.client("first", { scopes: scopes.filter((other) => other !== scope) });
      const response = await others.fetch(path, { method });
      if (method === "HEAD") return expect(response.status).toBe(403);
      const { error, required, docs } = await errorOf(response, 403);
      expect({ error, required, docs }).toEqual({ error: "insufficient_scope", required: scope, docs: undefined });
    });
  }

  test("GET /languages needs no scope", async () => {
    for (const scope of scopes) {
      expect((await server.client("first", { scopes: [scope] }).fetch("/languages")).status).toBe(200);
    }
  });

  test("a key has all scopes by default", async () => {
    const client = server.client("first");
    for (const [method, path, , status] of endpoints) {
      expect((await client.fetch(path, { method })).status).toBe(status);
    }
  });
});
