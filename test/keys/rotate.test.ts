import { beforeEach, describe, expect, test } from "bun:test";
import { newRecording } from "../../harness/new-recording.ts";
import {
  type Account,
  AccountsError,
  createAccount,
  createWorkspace,
  deleteWorkspace,
  listWorkspaces,
  readAudit,
} from "../../src/accounts/index.ts";
import { openDatabase, type Store, tables } from "../../src/database/index.ts";
import { authenticate, createKey, KeyUsage, listKeys, revokeKey, rotateKey } from "../../src/keys/index.ts";
import { requireKey } from "../../src/keys/keys.ts";
import { Recordings } from "../../src/recordings/index.ts";

const at = (now: number) => ({ actor: "operator", now });
const hour = 3_600_000;

let store: Store;
let account: Account;
beforeEach(() => {
  store = openDatabase(":memory:");
  account = createAccount(store, "acme", at(1));
});

describe("a key that is rotated", () => {
  test("has a successor with the same name, scopes, workspace and expiry, and its own secret", () => {
    const workspace = createWorkspace(store, account, "sales", at(1));
    const values = { name: "ci", scopes: ["transcriptions:read"] as const, workspace, expiresAt: 90 * hour };
    const old = createKey(store, account, values, at(2));
    const next = rotateKey(store, old.key.id, hour, at(10));
    const { accountId, workspaceId, name, scopes, expiresAt } = old.key;
    const rights = { accountId, workspaceId, name, scopes, expiresAt };
    expect(next.key).toMatchObject({ ...rights, createdAt: 10, lastUsedAt: null });
    expect(next.key.id).not.toBe(old.key.id);
    expect(next.secret).not.toBe(old.secret);
    expect(authenticate(store, next.secret, 10)?.id).toBe(next.key.id);
  });

  test.each([
    ["continues for the overlap", null, 12 * hour, 12 * hour],
    ["ends when it would have ended anyway", 3 * hour, 12 * hour, 3 * hour],
    ["ends at once without an overlap", null, 0, 0],
  ])("itself %s", (_, expiresAt, overlap, end) => {
    const { key, secret } = createKey(store, account, { name: "ci", expiresAt }, at(0));
    rotateKey(store, key.id, overlap, at(0));
    expect(requireKey(store, key.id).expiresAt).toBe(end);
    if (end > 0) expect(authenticate(store, secret, end - 1)?.id).toBe(key.id);
    expect(authenticate(store, secret, end)).toBeNull();
  });

  test("is not rotated twice: the error names its successor, which would inherit the end of the overlap", () => {
    const { key } = createKey(store, account, { name: "ci" }, at(0));
    const { key: successor } = rotateKey(store, key.id, hour, at(0));
    expect(() => rotateKey(store, key.id, hour, at(1))).toThrow(`rotate ${successor.id}`);
    expect(rotateKey(store, successor.id, hour, at(1)).key.expiresAt).toBeNull();
  });

  test("is refused without a change if it is revoked, expired or unknown", () => {
    const revoked = createKey(store, account, { name: "a" }, at(1)).key;
    revokeKey(store, revoked.id, at(2));
    const expired = createKey(store, account, { name: "b", expiresAt: 5 }, at(1)).key;
    for (const id of [revoked.id, expired.id, "nothing"]) {
      expect(() => rotateKey(store, id, hour, at(10))).toThrow(AccountsError);
    }
    expect(listKeys(store, null)).toHaveLength(2);
  });
});

describe("the last use of a key", () => {
  test("is written by a flush, not by each request", () => {
    const { key } = createKey(store, account, { name: "ci" }, at(1));
    const lastUse = new KeyUsage(store);
    for (let now = 10; now < 1000; now++) lastUse.record(key.id, now);
    expect(requireKey(store, key.id).lastUsedAt).toBeNull();
    lastUse.flush();
    lastUse.flush();
    expect(requireKey(store, key.id).lastUsedAt).toBe(999);
  });

  test("is dropped for a key that was deleted before the flush", () => {
    const lastUse = new KeyUsage(store);
    lastUse.record("gone", 1);
    lastUse.flush();
    expect(listKeys(store, null)).toEqual([]);
  });
});

describe("a workspace", () => {
  test("is not deleted while an active key is pinned to it; revoked and expired keys are deleted with it", () => {
    const workspace = createWorkspace(store, account, "sales", at(1));
    const inForce = createKey(store, account, { name: "a", workspace }, at(1)).key;
    createKey(store, account, { name: "b", workspace, expiresAt: 5 }, at(1));
    const elsewhere = createKey(store, account, { name: "c" }, at(1)).key;
    expect(() => deleteWorkspace(store, workspace, at(10))).toThrow("keys");
    expect(listKeys(store, account)).toHaveLength(3);
    revokeKey(store, inForce.id, at(11));
    deleteWorkspace(store, workspace, at(12));
    expect(listWorkspaces(store, account)).toEqual([]);
    expect(listKeys(store, account).map(({ id }) => id)).toEqual([elsewhere.id]);
    expect(readAudit(store, 1)[0]?.action).toBe("workspaces.delete");
  });

  test("is not deleted while it has recordings, unless they are being removed", () => {
    const workspace = createWorkspace(store, account, "sales", at(1));
    new Recordings(store, () => 1).create(newRecording("one", account.id, { workspaceId: workspace.id }));
    expect(() => deleteWorkspace(store, workspace, at(2))).toThrow("recordings");
    store.update(tables.recordings).set({ deletedAt: 3 }).run();
    deleteWorkspace(store, workspace, at(4));
    expect(listWorkspaces(store, account)).toEqual([]);
    expect(store.select().from(tables.recordings).all()).toMatchObject([{ id: "one", deletedAt: 3 }]);
  });

  test("has a unique name in its account, which another account may use too", () => {
    createWorkspace(store, account, "sales", at(1));
    expect(() => createWorkspace(store, account, "sales", at(1))).toThrow(AccountsError);
    expect(() => createWorkspace(store, account, "two words", at(1))).toThrow(AccountsError);
    expect(createWorkspace(store, createAccount(store, "other", at(1)), "sales", at(1)).name).toBe("sales");
  });
});
