import { setPassword } from "../../../src/console/index.ts";
import { tables } from "../../../src/database/index.ts";
import { createUser, type Role, type User } from "../../../src/users/index.ts";
import type { Browser, ConsoleServer } from "../../support/console.ts";

/** Password of all users of the tests. */
export const PASSWORD = "correct horse battery";
let passwordHash: Promise<string> | undefined;

/**
 * Hashes a password at the lowest cost. A check reads its cost from the hash, so a test that attempts many passwords does
 * not spend an eighth of a second of CPU time on each. The tests of the users' own functions check the real cost.
 */
export function cheapHash(password: string): Promise<string> {
  return Bun.password.hash(password, { algorithm: "argon2id", memoryCost: 8, timeCost: 1 });
}

/** Sets the operator's password, which is then checked at the lowest cost. */
export async function setCheapPassword({ api }: ConsoleServer, password: string): Promise<void> {
  await setPassword(api.store, password, api.operator());
  const hash = await cheapHash(password);
  api.store.update(tables.consolePassword).set({ hash }).run();
}

/** Creates a user with a password. @param accounts names of accounts, which are created if necessary */
export async function newUser(
  { api }: ConsoleServer,
  email: string,
  role: Role,
  accounts: "all" | readonly string[],
): Promise<User> {
  passwordHash ??= cheapHash(PASSWORD);
  const values = { email, name: `Name of ${email}`, role, passwordHash: await passwordHash };
  const seen = accounts === "all" ? accounts : accounts.map((name) => api.account(name));
  return createUser(api.store, { ...values, accounts: seen }, api.operator());
}

/** Returns a browser in which a new user has signed in. */
export async function signedIn(
  server: ConsoleServer,
  email: string,
  role: Role,
  accounts: "all" | readonly string[],
): Promise<Browser> {
  await newUser(server, email, role, accounts);
  const browser = server.stranger();
  await browser.enter({ email, password: PASSWORD });
  return browser;
}
