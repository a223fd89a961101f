import { beforeEach, describe, expect, test } from "bun:test";
import { type Account, AccountsError, createAccount, requireAccount } from "../../src/accounts/index.ts";
import { openDatabase, type Store } from "../../src/database/index.ts";
import { authenticate, createKey, listKeys, revokeKey } from "../../src/keys/index.ts";

/** The operator, at a time. */
const at = (now: number) => ({ actor: "operator", now });

describe("keys", () => {
  let store: Store;
  let acme: Account;
  beforeEach(() => {
    store = openDatabase(":memory:");
    acme = createAccount(store, "acme", at(1));
  });

  test("give access to their account and nothing else", () => {
    const { key, secret } = createKey(store, acme, { name: "ci" }, at(2));
    expect(authenticate(store, secret, 10)).toEqual(key);
    expect(key.accountId).toBe(acme.id);
  });

  test("have a prefix and a fixed length, and are never the same", () => {
    const secrets = Array.from({ length: 200 }, () => createKey(store, acme, { name: "k" }, at(2)).secret);
    for (const secret of secrets) expect(secret).toMatch(/^trs_[0-9A-Za-z]{49}$/);
    expect(new Set(secrets).size).toBe(200);
  });

  test("are not stored in the database", () => {
    const { secret } = createKey(store, acme, { name: "ci" }, at(2));
    expect(Buffer.from(store.$client.serialize()).includes(secret.slice(12))).toBe(false);
  });

  test("are refused from the moment they are revoked", () => {
    const { key, secret } = createKey(store, acme, { name: "ci" }, at(2));
    expect(revokeKey(store, key.id, at(3)).revokedAt).toBe(3);
    expect(authenticate(store, secret, 10)).toBeNull();
    expect(revokeKey(store, key.id, at(4)).revokedAt).toBe(3);
  });

  test("are refused if mistyped, truncated or of another database", () => {
    const { secret } = createKey(store, acme, { name: "ci" }, at(2));
    const elsewhere = openDatabase(":memory:");
    const stranger = createKey(elsewhere, createAccount(elsewhere, "acme", at(1)), { name: "ci" }, at(2));
    const typo = secret.slice(0, 20) + (secret[20] === "a" ? "b" : "a") + secret.slice(21);
    for (const bad of [typo, secret.slice(0, -1), `${secret}x`, secret.toLowerCase(), "", "trs_", stranger.secret]) {
      expect(authenticate(store, bad, 10)).toBeNull();
    }
  });

  test("are listed by account, without their secrets", () => {
    const other = createAccount(store, "other", at(1));
    const { secret } = createKey(store, acme, { name: "ci" }, at(2));
    createKey(store, other, { name: "app" }, at(2));
    expect(listKeys(store, acme)).toHaveLength(1);
    expect(listKeys(store, null)).toHaveLength(2);
    expect(JSON.stringify(listKeys(store, null))).not.toContain(secret.slice(12));
  });

  test.each(["", " ", "a b", "-a", "a".repeat(65), "näme"])("an account can't be named %p", (name) => {
    expect(() => createAccount(store, name, at(1))).toThrow(AccountsError);
  });

  test.each(["", " ", "\u200b", "a\nb", "a\u001bb", "x".repeat(101)])("a key can't be named %j", (name) => {
    expect(() => createKey(store, acme, { name }, at(2))).toThrow(AccountsError);
    expect(listKeys(store, acme)).toEqual([]);
  });

  test("a second account of the same name and an unknown account are refused", () => {
    expect(() => createAccount(store, "acme", at(2))).toThrow("already");
    expect(() => requireAccount(store, "nobody")).toThrow("transcribe accounts create nobody");
    expect(() => revokeKey(store, "nothing", at(1))).toThrow("transcribe keys list");
  });
});
