import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { bodyOf } from "../../../harness/client.ts";
import { readAudit } from "../../../src/accounts/index.ts";
import {
  accountPageSchema,
  createdKeySchema,
  keySchema,
  retentionSchema,
} from "../../../src/console/contract/index.ts";
import { ConsoleServer } from "../../support/console.ts";

setDefaultTimeout(60_000);

describe("accounts", () => {
  test("are shown with their used limits", async () => {
    using server = new ConsoleServer({ recordingsPerAccount: 3, limits: { creates_per_hour: 7, creates_per_day: 9 } });
    const { api } = server;
    const { id } = api.account("first");
    api.enterQueued(id);
    api.store.transaction((writer) => api.usage.spendCreate(writer, id, api.now()));
    const done = api.enterCompleted(id, 1);
    api.usage.admit(id, done, 1e9, api.now());
    api.usage.chargeAudio(done, 90, 1e9);
    const { accounts, scopes } = await (await server.operator()).read("/accounts", accountPageSchema);
    expect(accounts).toMatchObject([
      {
        ...{ id, name: "first", standing: "active", subscribed_until: null, priority: 0, workspaces: [], keys: [] },
        usage: {
          audio_minutes_per_day: { used: 1.5, limit: 1200 },
          recordings_per_account: { used: 1, limit: 3 },
          creates_per_hour: { used: 1, limit: 7 },
          creates_per_day: { used: 1, limit: 9 },
        },
      },
    ]);
    expect(scopes).toEqual([
      "transcriptions:read",
      "transcriptions:write",
      "transcriptions:delete",
      "transcriptions:edit",
    ]);
  });

  test("have a retention of their own, which an operator sets and takes back", async () => {
    using server = new ConsoleServer();
    const { api } = server;
    const { id } = api.account("first");
    const operator = await server.operator();
    const set = async (body: object) =>
      bodyOf(await operator.send("PUT", `/accounts/${id}/retention`, body), 200, retentionSchema);
    const own = { audio_days: 1, completed_days: 30 };
    const standard = { audio_days: 7, completed_days: 0 };
    expect(await set(own)).toEqual({ own, server: standard });
    const { accounts } = await operator.read("/accounts", accountPageSchema);
    expect(accounts[0]?.retention).toEqual({ own, server: standard });
    for (const wrong of [
      { ...own, audio_days: -1 },
      { ...own, completed_days: 36_501 },
      { ...own, completed_days: 1.5 },
      { audio_days: 1 },
      { ...own, more: 1 },
    ]) {
      expect((await operator.send("PUT", `/accounts/${id}/retention`, wrong)).status).toBe(422);
    }
    expect((await operator.send("PUT", "/accounts/none/retention", own)).status).toBe(422);
    const none = { audio_days: null, completed_days: null };
    expect(await set(none)).toEqual({ own: none, server: standard });
    const [entry] = readAudit(api.store, 1);
    expect([entry?.action, entry?.subject, entry?.actor]).toEqual(["accounts.change", id, "operator (console)"]);
  });

  test("come in pages, oldest first", async () => {
    using server = new ConsoleServer();
    for (const name of ["a", "b", "c"]) server.api.account(name);
    const operator = await server.operator();
    const first = await operator.read("/accounts?limit=2", accountPageSchema);
    const rest = await operator.read(`/accounts?limit=2&cursor=${first.next_cursor}`, accountPageSchema);
    expect([...first.accounts, ...rest.accounts].map(({ name }) => name)).toEqual(["a", "b", "c"]);
    expect(rest.next_cursor).toBeNull();
  });
});

describe("keys", () => {
  test("are created, shown once, used, and revoked", async () => {
    using server = new ConsoleServer();
    const { api } = server;
    const workspace = api.workspace("first", "sales");
    const operator = await server.operator();
    const values = {
      ...{ account: workspace.accountId, name: " crm ", workspace: workspace.id, expires_in_days: 30 },
      scopes: ["transcriptions:read"],
    };
    const made = await bodyOf(await operator.send("POST", "/keys", values), 201, createdKeySchema);
    expect(made.key).toMatchObject({
      ...{ name: "crm", state: "active", scopes: ["transcriptions:read"], workspace: { name: "sales" } },
      ...{ revoked_at: null, last_used_at: null },
    });
    expect(Date.parse(made.key.expires_at ?? "") - Date.parse(made.key.created_at)).toBe(30 * 86_400_000);
    const use = () => fetch(`${api.baseUrl}/transcriptions`, { headers: { Authorization: `Bearer ${made.secret}` } });
    expect((await use()).status).toBe(200);

    const page = await (await operator.data("/accounts")).text();
    expect(page).toContain(made.key.hint);
    expect(page).not.toContain(made.secret);
    expect(JSON.stringify(api.log)).not.toContain(made.secret);
    expect(api.filesHolding(made.secret)).toEqual([]);

    const revoked = await bodyOf(await operator.send("DELETE", `/keys/${made.key.id}`), 200, keySchema);
    expect([revoked.state, revoked.workspace?.name]).toEqual(["revoked", "sales"]);
    expect((await use()).status).toBe(401);
    const actions = api.store.$client.query("SELECT actor, action FROM audit_log ORDER BY id DESC LIMIT 2").all();
    expect(actions).toEqual([
      { actor: "operator (console)", action: "keys.revoke" },
      { actor: "operator (console)", action: "keys.create" },
    ]);
  });

  test("are shown as expired after their expiry", async () => {
    using server = new ConsoleServer();
    const { api } = server;
    api.advance(0);
    api.client("first", { expiresAt: api.now() + 1 });
    api.advance(2);
    const { accounts } = await (await server.operator()).read("/accounts", accountPageSchema);
    expect(accounts[0]?.keys.map(({ state }) => state)).toEqual(["expired"]);
  });

  test("can't be created from an invalid request", async () => {
    using server = new ConsoleServer();
    const { api } = server;
    const { id: account } = api.account("first");
    const foreign = api.workspace("second", "sales");
    const operator = await server.operator();
    const cases: object[] = [
      {},
      { account, name: "" },
      { account, name: "  " },
      { account, name: "x".repeat(101) },
      { account: "nobody", name: "x" },
      { account, name: "x", workspace: foreign.id },
      { account, name: "x", scopes: [] },
      { account, name: "x", scopes: ["everything"] },
      { account, name: "x", expires_in_days: 0 },
      { account, name: "x", admin: true },
    ];
    for (const body of cases) {
      expect(await operator.refusal(operator.send("POST", "/keys", body), 422)).toBe("validation_failed");
    }
    expect(await operator.refusal(operator.send("DELETE", "/keys/none"), 404)).toBe("not_found");
    expect(api.store.$client.query("SELECT * FROM api_keys").all()).toEqual([]);
  });
});
