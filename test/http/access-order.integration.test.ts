import { afterAll, describe, expect, test } from "bun:test";
import { type AccountChanges, changeAccount } from "../../src/accounts/index.ts";
import { ApiServer } from "../support/http.ts";
import { refusalOf } from "../support/secrets.ts";

const minute = 60_000;

/** Requests with several faults. The first failing check in section 4 of the contract decides. */
describe("the order of checks", () => {
  const server = new ApiServer({ limits: { requests_per_minute: 50, failed_authentications_per_minute: 10 } });
  server.now = () => Date.parse("2026-11-21T08:00:00Z");
  afterAll(() => server[Symbol.dispose]());
  const inside = server.workspace("first", "inside");
  const outside = server.workspace("first", "outside");
  const nothing = server.client("first", { scopes: ["transcriptions:write"] });
  const pinned = server.client("first", { workspace: inside });
  const { accountId } = pinned;
  const mine = server.enterCompleted(accountId, 1, { workspaceId: inside.id });
  const elsewhere = server.enterProcessing(accountId, { workspaceId: outside.id });
  const nowhere = server.enterProcessing(accountId);
  const theirs = server.enterProcessing(server.client("second").accountId);
  const running = server.enterProcessing(accountId, { workspaceId: inside.id });
  const held = server.enterProcessing(accountId, { workspaceId: inside.id });
  server.recordings.setHold(held, true);

  const set = (changes: AccountChanges) =>
    void changeAccount(server.store, server.account("first"), server.operator(), changes);
  const refused = async (client: typeof nothing, path: string, method = "GET", headers = {}) =>
    refusalOf(await client.fetch(path, { method, headers }), theirs, elsewhere, "second", "outside");

  test("failed authentications are counted before the key is checked", async () => {
    for (let count = 0; count < 10; count++) {
      expect(await refused(nothing, "/nothing", "PATCH", { authorization: "Bearer x" })).toBe("401 invalid_api_key");
    }
    expect(await refused(nothing, "/nothing", "PATCH", { authorization: "Bearer x" })).toBe("429 rate_limited");
    server.advance(minute);
  });

  test("the account is checked before the request rate: guest, restricted, then subscription", async () => {
    for (let count = 0; count < 50; count++) await nothing.fetch("/languages");
    expect(await refused(nothing, "/nothing")).toBe("429 rate_limited");
    set({ standing: "guest", subscribedUntil: 0 });
    expect(await refused(nothing, "/nothing")).toBe("403 guest_account_not_supported");
    set({ standing: "restricted" });
    expect(await refused(nothing, "/nothing")).toBe("403 account_restricted");
    set({ standing: "active" });
    expect(await refused(nothing, "/nothing")).toBe("403 subscription_required");
    set({ subscribedUntil: null });
  });

  test("the request rate is checked before paths and methods", async () => {
    expect(await refused(nothing, "/nothing")).toBe("429 rate_limited");
    expect(await refused(nothing, "/languages", "PATCH")).toBe("429 rate_limited");
    expect(await refused(nothing, `/transcriptions/${theirs}`)).toBe("429 rate_limited");
    server.advance(minute);
  });

  const later: [string, typeof nothing, string, string, string][] = [
    ["4. paths, before scopes", nothing, "/transcriptions/x/y?limit=0", "GET", "404 not_found"],
    ["4. methods, before scopes", nothing, "/transcriptions", "PATCH", "405 method_not_allowed"],
    ["4. methods, before recordings", nothing, `/transcriptions/${theirs}`, "POST", "405 method_not_allowed"],
    ["5. scopes, before recordings: unknown", nothing, `/transcriptions/${nowhere}x`, "GET", "403 insufficient_scope"],
    ["5. scopes, before recordings: theirs", nothing, `/transcriptions/${theirs}`, "GET", "403 insufficient_scope"],
    ["5. scopes, before workspaces", nothing, `/transcriptions/${elsewhere}`, "DELETE", "403 insufficient_scope"],
    ["5. scopes, before the query", nothing, "/transcriptions?limit=0", "GET", "403 insufficient_scope"],
    ["6. theirs, before the query", pinned, `/transcriptions/${theirs}/segments?limit=0`, "GET", "404 not_found"],
    [
      "6. another workspace, before the query",
      pinned,
      `/transcriptions/${elsewhere}/segments?limit=0`,
      "GET",
      "403 workspace_scope_mismatch",
    ],
    [
      "6. another workspace, before the state",
      pinned,
      `/transcriptions/${elsewhere}`,
      "DELETE",
      "403 workspace_scope_mismatch",
    ],
    ["6. no workspace counts as another", pinned, `/transcriptions/${nowhere}`, "GET", "403 workspace_scope_mismatch"],
    ["6. what may not be done, before the state", pinned, `/transcriptions/${held}`, "DELETE", "403 forbidden"],
    [
      "7. the query, before the state",
      pinned,
      `/transcriptions/${running}/segments?limit=0`,
      "GET",
      "422 validation_failed",
    ],
    ["7. the format, before the state", pinned, `/transcriptions/${running}/export`, "GET", "422 validation_failed"],
    ["8. the state: not ready", pinned, `/transcriptions/${running}/segments`, "GET", "409 transcription_is_not_ready"],
    ["8. the state: not ended", pinned, `/transcriptions/${running}`, "DELETE", "409 transcription_still_processing"],
    [
      "8. the state: no export",
      pinned,
      `/transcriptions/${running}/export?format=txt`,
      "GET",
      "409 transcription_is_not_ready",
    ],
  ];
  for (const [what, client, path, method, refusal] of later) {
    test(what, async () => {
      expect(await refused(client, path, method)).toBe(refusal);
    });
  }

  test("a request without a fault passes", async () => {
    expect((await pinned.fetch(`/transcriptions/${mine}`)).status).toBe(200);
  });
});
