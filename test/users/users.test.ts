import { describe, expect, spyOn, test } from "bun:test";
import { createAccount, readAudit } from "../../src/accounts/index.ts";
import { openDatabase, type Store } from "../../src/database/index.ts";
import {
  accountIdsOf,
  changeUser,
  createUser,
  deleteUser,
  enterClaimedUser,
  findLocalUser,
  hashPassword,
  isPasswordOf,
  listUsers,
  nameOfActor,
  requireUser,
  setUserPassword,
} from "../../src/users/index.ts";

const by = { actor: "root", now: 1000 };

function newStore(): Store {
  const store = openDatabase(":memory:");
  for (const name of ["acme", "beta"]) createAccount(store, name, by);
  return store;
}

const newUser = (store: Store, email: string, name = "Anna") =>
  createUser(store, { email, name, role: "member", accounts: "all", passwordHash: "hash" }, by);

const claimed = {
  issuer: "https://login.example.org",
  subject: "anna-1",
  name: "Anna Ames",
  email: "anna@example.org",
  isEmailVerified: true,
  domain: "example.org",
  groups: ["sales"],
};

describe("a user with a password", () => {
  test("is found by the address in any case, which one user alone has", () => {
    const store = newStore();
    const user = newUser(store, " Anna@Example.org ");
    expect(findLocalUser(store, "ANNA@example.org")?.user).toEqual(user);
    expect(user.email).toBe("anna@example.org");
    expect(() => newUser(store, "anna@EXAMPLE.org")).toThrow("exists already");
    expect(requireUser(store, user.id)).toEqual(user);
    expect(() => requireUser(store, "omar@example.org")).toThrow("transcribe users list");
  });

  test.each([
    "anna",
    "",
    "anna@",
    "@example.org",
    "a b@example.org",
    "a\n@example.org",
    `${"a".repeat(65)}@example.org`,
  ])("does not get the address %p", (email) => {
    expect(() => newUser(newStore(), email)).toThrow("is not an e-mail address");
  });

  test.each(["", "  ", "two\nlines", "x".repeat(101)])("does not get the name %p", (name) => {
    expect(() => newUser(newStore(), "anna@example.org", name)).toThrow("a name has 1 to 100 characters");
  });

  test("is named by the address without a name, by as much of it as a name may have", () => {
    const email = `${"a".repeat(64)}@${"b".repeat(50)}.example.org`;
    const { name } = createUser(newStore(), { email, role: "reader", accounts: "all", passwordHash: "hash" }, by);
    expect(name).toBe(email.slice(0, 100));
  });

  test("is separate from a user of the provider with the same address", () => {
    const store = newStore();
    const local = newUser(store, "anna@example.org");
    const entered = enterClaimedUser(store, claimed, { role: "reader", accounts: ["acme"] }, 1);
    expect(entered.user?.id).not.toBe(local.id);
    expect(findLocalUser(store, "anna@example.org")?.user.id).toBe(local.id);
    expect(() => requireUser(store, "anna@example.org")).toThrow("2 users have this address");
  });
});

describe("a user of the provider", () => {
  const enter = (store: Store, values: Partial<typeof claimed>, accounts: "all" | string[] = ["acme"]) =>
    enterClaimedUser(store, { ...claimed, ...values }, { role: "member", accounts }, 2000).user;

  test("is stored once, with the name, the address and the accounts of the last sign-in", () => {
    const store = newStore();
    const first = enter(store, {});
    const second = enter(store, { name: "Anna Bell", email: "bell@example.org" }, ["beta", "beta"]);
    expect(second?.id).toBe(first?.id ?? "");
    expect(listUsers(store)).toEqual([expect.objectContaining({ name: "Anna Bell", email: "bell@example.org" })]);
    const names = store.$client.query("SELECT name FROM user_accounts JOIN accounts ON accounts.id = account_id").all();
    expect(names).toEqual([{ name: "beta" }]);
    expect(enter(store, {}, "all")?.allAccounts).toBe(true);
    expect(store.$client.query("SELECT * FROM user_accounts").all()).toEqual([]);
  });

  test("with the same subject of another issuer is another user", () => {
    const store = newStore();
    enter(store, {});
    enter(store, { issuer: "https://other.example.org" });
    expect(listUsers(store)).toHaveLength(2);
  });

  test("has a name that can be stored and shown, whatever the provider sends", () => {
    const store = newStore();
    const user = enter(store, {
      name: `Anna\u0000\u202e\n${"x".repeat(500)}`,
      email: `${"y".repeat(900)}@example.org`,
    });
    expect(user?.name).toMatch(/^Anna x+$/);
    expect(user?.name.length).toBe(100);
    expect(user?.email?.length).toBe(320);
    const joined = "علی\u200cرضا 👩🏽‍🚀 辻\u{e0100}";
    expect(enter(store, { subject: "3", name: ` ${joined}\u{e0041}` })?.name).toBe(joined);
    expect(enter(store, { subject: "2", name: " ", email: "" })).toMatchObject({ name: "Unnamed", email: null });
  });

  test("gets role and accounts from the rules alone, and no password", () => {
    const store = newStore();
    const user = enter(store, {});
    if (user === null) throw new Error("the user was not stored");
    expect(() => changeUser(store, user, { role: "operator" }, by)).toThrow("oidc.rules");
    expect(() => setUserPassword(store, user, "hash", by)).toThrow("the sign-in provider checks");
  });
});

describe("the audit log", () => {
  test("has neither the name nor the address of a user", () => {
    const store = newStore();
    const local = newUser(store, "omar@example.org", "Omar Oz");
    changeUser(store, local, { role: "reader", name: "Omar Oz-Roe" }, by);
    enterClaimedUser(store, claimed, { role: "member", accounts: ["acme"] }, 1);
    for (const user of listUsers(store)) deleteUser(store, user, by);
    const entries = JSON.stringify(readAudit(store, 100));
    for (const action of ["users.create", "users.change", "users.delete"]) expect(entries).toContain(action);
    for (const text of ["Omar", "Anna", "example.org", "anna-1"]) expect(entries).not.toContain(text);
  });

  test("names its authors for people as they are now", () => {
    const store = newStore();
    const user = newUser(store, "anna@example.org");
    const actor = `user:${user.id}`;
    expect(nameOfActor(store, actor)).toBe("Anna (anna@example.org)");
    expect(nameOfActor(store, "root")).toBe("root");
    expect(nameOfActor(store, "user:root")).toBe("user:root");
    expect([actor, "root (console)"].map((each) => nameOfActor(store, each, "others"))).toEqual([
      "Anna",
      "the operator",
    ]);
    deleteUser(store, user, by);
    expect(nameOfActor(store, actor)).toBe(`deleted user ${user.id}`);
    expect(nameOfActor(store, actor, "others")).toBe("a deleted user");
  });
});

test("an operator sees all accounts, whatever is assigned", () => {
  const store = newStore();
  const user = createUser(
    store,
    { email: "o@example.org", name: "O", role: "operator", accounts: [], passwordHash: "h" },
    by,
  );
  expect(accountIdsOf(store, user)).toBe("all");
  const reader = changeUser(store, user, { role: "reader" }, by);
  expect(accountIdsOf(store, reader)).toEqual([]);
});

test("a password is checked by its argon2id hash, and without a hash it is never right at the same cost", async () => {
  const cost = "$argon2id$v=19$m=65536,t=2,p=1$";
  const hash = await hashPassword("correct horse battery");
  expect(hash).toStartWith(cost);
  expect(await isPasswordOf(hash, "correct horse battery")).toBe(true);
  expect(await isPasswordOf(hash, "correct horse batter")).toBe(false);
  const verify = spyOn(Bun.password, "verify");
  try {
    expect(await isPasswordOf(null, "")).toBe(false);
    expect(verify.mock.calls).toEqual([["", expect.stringContaining(cost)]]);
  } finally {
    verify.mockRestore();
  }
});
