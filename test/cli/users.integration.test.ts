import { Database } from "bun:sqlite";
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import pino from "pino";
import { hourlyChores } from "../../src/server/chores.ts";
import type { RunningSettings } from "../../src/server/running-settings.ts";
import { enterClaimedUser, requireUser } from "../../src/users/index.ts";
import { ConsoleServer } from "../support/console.ts";
import { Commands, maybe, shape } from "./support.ts";

setDefaultTimeout(60_000);

const userShape = shape({
  id: Type.String({ pattern: "^[0-9a-f-]{36}$" }),
  name: Type.String(),
  email: maybe(Type.String()),
  role: Type.String(),
  accounts: maybe(Type.Array(Type.String())),
  issuer: maybe(Type.String()),
  subject: maybe(Type.String()),
  created_at: Type.String(),
  last_sign_in_at: maybe(Type.String()),
  disabled_since: maybe(Type.String()),
});

describe("transcribe users, with a running server,", () => {
  const server = new ConsoleServer();
  afterAll(() => server[Symbol.dispose]());
  const commands = new Commands(server.api.dataDirectory.root);
  for (const account of ["acme", "beta"]) server.api.account(account);

  /** Runs a command with a password on standard input. */
  const withPassword = (password: string, ...args: readonly string[]) => commands.runWith(password, ["users", ...args]);
  const signIn = (password: string) => server.stranger().enter({ email: "anna@example.org", password });

  test("creates a user who can sign in, and shows what is stored", async () => {
    const options = ["--role", "member", "--account", "acme", "--account", "beta", "--name", "Anna Ames"];
    const created = await withPassword("correct horse battery\n", "create", "Anna@Example.org", ...options);
    expect([created.exitCode, created.stderr]).toEqual([0, ""]);
    expect(created.stdout).toMatch(/^created user [0-9a-f-]{36}\n$/);
    await signIn("correct horse battery");
    const user = await commands.json(userShape, "users", "show", "anna@example.org");
    expect(user).toMatchObject({
      ...{ name: "Anna Ames", email: "anna@example.org", role: "member" },
      ...{ accounts: ["acme", "beta"], issuer: null, disabled_since: null },
    });
    expect(user.last_sign_in_at).not.toBeNull();
    expect(await commands.json(Type.Array(userShape), "users", "list")).toEqual([user]);
    const { stdout } = await commands.run("users", "list");
    for (const text of ["Anna Ames", "anna@example.org", "member", "acme, beta", "password", "active", user.id]) {
      expect(stdout).toContain(text);
    }
    expect((await commands.run("users", "show", user.id)).stdout).toContain("acme, beta");
  });

  test("explains what is missing or wrong", async () => {
    const create = (...options: string[]) => withPassword("correct horse battery\n", "create", ...options);
    const cases: [Promise<{ stderr: string; exitCode: number }>, string][] = [
      [create("omar@example.org", "--role", "reader", "--account", "none"), "there is no account none"],
      [create("anna@example.org", "--role", "operator"), "exists already"],
      [withPassword("short\n", "create", "omar@example.org", "--role", "operator"), "12 to 256 characters"],
      [withPassword("", "create", "omar@example.org", "--role", "operator"), "standard input has no password"],
      [withPassword("", "show", "omar@example.org"), "transcribe users list"],
    ];
    for (const [running, part] of cases) {
      const { exitCode, stderr } = await running;
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining(part)]);
      expect(stderr).toMatch(/^transcribe: .+\n$/);
    }
    const created = ["users", "create", "omar@example.org"];
    expect(await commands.usageError(...created)).toContain("--role operator, member or reader");
    expect(await commands.usageError(...created, "--role", "reader")).toContain("--account NAME, or --all-accounts");
    const operator = await commands.usageError(...created, "--role", "operator", "--account", "acme");
    expect(operator).toContain("an operator sees all accounts");
    expect((await commands.run("users", "delete", "anna@example.org")).exitCode).toBe(2);
  });

  test("changes, disables and enables a user", async () => {
    const email = "anna@example.org";
    const changed = await commands.json(userShape, "users", "set", email, "--role", "reader", "--all-accounts");
    expect(changed).toMatchObject({ role: "reader", accounts: null });
    await commands.json(userShape, "users", "set", email, "--role", "member", "--account", "acme");
    await server.api.removeAccount(server.api.account("acme"));
    const { exitCode, stderr } = await commands.run("users", "set", email, "--role", "reader");
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining("sees no recordings")]);
    server.api.account("acme");
    expect((await withPassword("another horse entirely\n", "password", email)).exitCode).toBe(0);
    expect(signIn("correct horse battery")).rejects.toThrow("401");
    await signIn("another horse entirely");
    expect((await commands.json(userShape, "users", "disable", email)).disabled_since).not.toBeNull();
    expect(signIn("another horse entirely")).rejects.toThrow("401");
    expect((await commands.json(userShape, "users", "enable", email)).disabled_since).toBeNull();
    await signIn("another horse entirely");
  });

  test("refuses to change a user whom the rules for the provider decide on", async () => {
    const claimed = {
      issuer: "https://login.example.org",
      subject: "1",
      name: "Rita\u202e",
      email: "rita@example.org",
    };
    const user = { ...claimed, isEmailVerified: true, domain: "example.org", groups: [] };
    enterClaimedUser(server.api.store, user, { role: "reader", accounts: ["acme"] }, 1);
    expect(await commands.refusal("users", "set", "rita@example.org", "--role", "operator")).toContain("oidc.rules");
    expect((await withPassword("correct horse battery", "password", "rita@example.org")).stderr).toContain("provider");
  });

  test("reports that deleted data is in the log while another program reads it, and the server removes it later", async () => {
    const { store, dataDirectory } = server.api;
    await withPassword("correct horse battery\n", "create", "zebra@example.org", "--role", "operator");
    const reader = new Database(dataDirectory.databasePath, { readonly: true });
    reader.run("BEGIN");
    reader.query("SELECT count(*) FROM users").get();
    const deleted = await commands.run("users", "delete", "zebra@example.org", "--yes");
    expect([deleted.exitCode, deleted.stderr]).toEqual([0, expect.stringContaining("still holds the data")]);
    expect(server.api.filesHolding("zebra@example.org")).not.toEqual([]);
    reader.close();
    const { recordings } = server.api;
    const chores = hourlyChores(
      { recordings, dataDirectory, store, log: pino({ level: "silent" }), settled: async () => {} },
      // Only tasks of retention read the settings.
      {} as RunningSettings,
      Date.now,
    );
    await chores["deleted data in the write-ahead log"]?.();
    expect(server.api.filesHolding("zebra@example.org")).toEqual([]);
  });

  test("deletes a user with all that is stored about the person", async () => {
    const { store } = server.api;
    const { id } = requireUser(store, "anna@example.org");
    const before = await commands.run("audit", "--json");
    expect(before.stdout).toContain(`"name": "Anna Ames (anna@example.org)"`);
    expect((await commands.run("users", "delete", "anna@example.org", "--yes")).stdout).toBe(`deleted user ${id}\n`);
    const after = await commands.run("audit");
    expect(after.stdout).toContain(`deleted user ${id}`);
    expect(after.stdout).toContain("users.delete");
    for (const text of ["anna@example.org", "Anna Ames"]) {
      expect(after.stdout).not.toContain(text);
      expect(server.api.filesHolding(text)).toEqual([]);
    }
  });
});
