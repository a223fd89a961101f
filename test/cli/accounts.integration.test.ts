import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { TestClient } from "../../harness/client.ts";
import { auditor } from "../../src/cli/admin/audit.ts";
import { ApiServer } from "../support/http.ts";
import { refusalOf } from "../support/secrets.ts";
import { Commands, newKeyShape, rotatedKeyShape, shapes } from "./support.ts";

setDefaultTimeout(60_000);

describe("the commands for accounts, workspaces and keys, with a running server,", () => {
  const server = new ApiServer();
  afterAll(() => server[Symbol.dispose]());
  const commands = new Commands(server.dataDirectory.root);
  const outcome = async (client: TestClient, path = "/languages", method = "GET") => {
    const response = await client.fetch(path, { method });
    return response.ok ? "200" : refusalOf(response);
  };
  const secrets: string[] = [];

  test("create an account and a key that the next request may use", async () => {
    const account = await commands.json(shapes.account, "accounts", "create", "acme");
    expect(account).toMatchObject({
      name: "acme",
      standing: "active",
      subscribed_until: null,
      priority: 0,
      limits: {},
    });
    const created = await commands.json(newKeyShape, "keys", "create", "--account", "acme", "--name", "the app");
    secrets.push(created.key);
    expect(created).toMatchObject({
      account_id: account.id,
      workspace_id: null,
      name: "the app",
      scopes: ["transcriptions:read", "transcriptions:write", "transcriptions:delete"],
      expires_at: null,
      revoked_at: null,
    });
    expect(created.key.startsWith(created.hint)).toBe(true);
    expect(await outcome(new TestClient(server.baseUrl, created.key))).toBe("200");
  });

  const changes: [string[], object, string][] = [
    [["--standing", "guest"], { standing: "guest" }, "403 guest_account_not_supported"],
    [["--standing", "restricted"], { standing: "restricted" }, "403 account_restricted"],
    [["--standing", "active"], { standing: "active" }, "200"],
    [["--subscription", "none"], { subscribed_until: "1970-01-01T00:00:00.000Z" }, "403 subscription_required"],
    [["--subscription", "2020-02-29"], { subscribed_until: "2020-02-29T00:00:00.000Z" }, "403 subscription_required"],
    [["--subscription", "2126-12-31"], { subscribed_until: "2126-12-31T00:00:00.000Z" }, "200"],
    [["--subscription", "90d"], { subscribed_until: expect.any(String) }, "200"],
    [["--subscription", "forever"], { subscribed_until: null }, "200"],
    [["--priority", "-3"], { priority: -3 }, "200"],
  ];
  for (const [options, expected, code] of changes) {
    test(`set ${options.join(" ")} so that the next request gets ${code}`, async () => {
      expect(await commands.json(shapes.account, "accounts", "set", "acme", ...options)).toMatchObject(expected);
      expect(await outcome(new TestClient(server.baseUrl, secrets[0] ?? ""))).toBe(code);
    });
  }

  test("set limits one by one, from the next request on, and reset them with default", async () => {
    const limits = async (...options: string[]) =>
      (await commands.json(shapes.account, "accounts", "limits", "acme", ...options)).limits;
    const client = new TestClient(server.baseUrl, secrets[0] ?? "");
    expect(await limits()).toEqual({});
    expect(await limits("--requests-per-minute", "1")).toEqual({ requests_per_minute: 1 });
    expect(await outcome(client)).toBe("429 rate_limited");
    const all = ["--audio-minutes-per-day", "1", "--recordings-per-account", "2", "--creates-per-hour", "0"];
    expect(await limits(...all, "--creates-per-day", "4", "--requests-per-minute", "default")).toEqual({
      audio_minutes_per_day: 1,
      recordings_per_account: 2,
      creates_per_hour: 0,
      creates_per_day: 4,
    });
    expect(await outcome(client)).toBe("200");
    expect(await outcome(client, "/transcriptions", "POST")).toBe("429 rate_limited");
    expect(await limits("--creates-per-hour", "default")).not.toHaveProperty("creates_per_hour");
    expect(await outcome(client, "/transcriptions", "POST")).toBe("400 bad_request");
    const { stdout } = await commands.run("accounts", "limits", "acme");
    expect(stdout).toMatch(/creates_per_day +4\n/);
    expect(stdout).toMatch(/requests_per_minute +default\n/);
  });

  test("create a key with a workspace, scopes and an expiry, and delete only unused workspaces", async () => {
    const workspace = await commands.json(shapes.workspace, "workspaces", "create", "sales", "--account", "acme");
    expect(await commands.json(Type.Array(shapes.workspace), "workspaces", "list", "--account", "acme")).toEqual([
      workspace,
    ]);
    const options = ["--workspace", "sales", "--scopes", "transcriptions:read", "--expires", "2126-01-02"];
    const created = await commands.json(newKeyShape, "keys", "create", "--account", "acme", ...options);
    secrets.push(created.key);
    expect(created).toMatchObject({
      workspace_id: workspace.id,
      scopes: ["transcriptions:read"],
      expires_at: "2126-01-02T00:00:00.000Z",
    });
    const client = new TestClient(server.baseUrl, created.key);
    const outside = server.enterCompleted(server.account("acme").id, 1);
    expect(await outcome(client, `/transcriptions/${outside}`)).toBe("403 workspace_scope_mismatch");
    expect(await outcome(client, "/transcriptions", "POST")).toBe("403 insufficient_scope");
    expect(await commands.refusal("workspaces", "delete", "sales", "--account", "acme")).toContain("keys");
    await commands.json(shapes.key, "keys", "revoke", created.id);
    expect(await outcome(client)).toBe("401 invalid_api_key");
    await commands.json(shapes.workspace, "workspaces", "delete", "sales", "--account", "acme");
    expect(await commands.json(Type.Array(shapes.workspace), "workspaces", "list", "--account", "acme")).toEqual([]);
  });

  test("rotate keys: both are valid during the overlap, and without an overlap only the new one", async () => {
    const old = await commands.json(newKeyShape, "keys", "create", "--account", "acme");
    const next = await commands.json(rotatedKeyShape, "keys", "rotate", old.id, "--overlap", "12h");
    const last = await commands.json(rotatedKeyShape, "keys", "rotate", next.id, "--overlap", "0m");
    secrets.push(old.key, next.key, last.key);
    expect(next.replaces.id).toBe(old.id);
    expect(next.replaces.expires_at).not.toBeNull();
    const outcomes = [old, next, last].map(({ key }) => outcome(new TestClient(server.baseUrl, key)));
    expect(await Promise.all(outcomes)).toEqual(["200", "401 invalid_api_key", "200"]);
    expect(await commands.refusal("keys", "rotate", next.id)).toContain("expired");
  });

  test("print lists for programs and for people, without secrets", async () => {
    const accounts = await commands.json(Type.Array(shapes.account), "accounts", "list");
    expect(accounts.map(({ name }) => name)).toEqual(["acme"]);
    const keys = await commands.json(Type.Array(shapes.key), "keys", "list", "--account", "acme");
    expect(keys).toHaveLength(4);
    const texts = await Promise.all([
      commands.run("accounts", "list"),
      commands.run("keys", "list"),
      commands.run("keys", "list", "--json"),
      commands.run("audit"),
      commands.run("audit", "--json"),
    ]);
    const printed = texts.map(({ stdout }) => stdout).join("\n");
    expect(printed).toContain("acme");
    for (const secret of secrets) expect(printed).not.toContain(secret.slice(10));
  });

  test("record every change, and nothing else, in the audit log: user, time, action, subject", async () => {
    const entries = await commands.json(Type.Array(shapes.auditEntry), "audit", "--limit", "100");
    expect(new Set(entries.map(({ actor }) => actor))).toEqual(new Set([auditor().actor]));
    expect(entries.map(({ action }) => action).reverse()).toEqual([
      "accounts.create",
      "keys.create",
      ...Array<string>(changes.length).fill("accounts.change"),
      // One entry for each call that changed something.
      ...Array<string>(3).fill("accounts.change"),
      "workspaces.create",
      "keys.create",
      "keys.revoke",
      "workspaces.delete",
      "keys.create",
      "keys.rotate",
      "keys.rotate",
    ]);
    expect(entries.map(({ at }) => at)).toEqual(
      entries
        .map(({ at }) => at)
        .sort()
        .reverse(),
    );
    expect(await commands.json(Type.Array(shapes.auditEntry), "audit", "--limit", "2")).toEqual(entries.slice(0, 2));
  });

  test("delete an account with everything of it at once, and nothing of another account", async () => {
    const other = server.client("other");
    const otherId = server.enterCompleted(other.accountId, 2);
    const { id: accountId } = server.account("acme");
    const ids = [server.enterCompleted(accountId, 500), server.enterProcessing(accountId)];
    for (const id of [...ids, otherId]) await Bun.write(server.dataDirectory.localAudio.pathOf(id), `audio of ${id}`);
    server.workspace("acme", "late");
    const deleted = await commands.json(shapes.account, "accounts", "delete", "acme", "--yes");
    expect(deleted.id).toBe(accountId);
    for (const secret of secrets) expect(await outcome(new TestClient(server.baseUrl, secret))).toStartWith("401");
    expect(server.filesIn("uploads")).toEqual([otherId]);
    expect(server.filesHolding("Segment 499.")).toEqual([]);
    for (const table of ["recordings", "segments", "api_keys", "workspaces", "accounts"]) {
      const column = table === "accounts" ? "id" : "account_id";
      const where = table === "segments" ? `recording_id <> '${otherId}'` : `${column} = '${accountId}'`;
      const rows = server.store.$client.query(`SELECT count(*) AS rows FROM ${table} WHERE ${where}`).get();
      expect([table, rows]).toEqual([table, { rows: 0 }]);
    }
    expect(await outcome(other, `/transcriptions/${otherId}/segments`)).toBe("200");
    expect((await commands.json(Type.Array(shapes.auditEntry), "audit", "--limit", "1"))[0]).toMatchObject({
      action: "accounts.delete",
      subject: accountId,
      details: { name: "acme" },
    });
  });
});
