import { describe, expect, setDefaultTimeout, spyOn, test } from "bun:test";
import { sessionSchema, signInMethodsSchema } from "../../../src/console/contract/index.ts";
import { tables } from "../../../src/database/index.ts";
import { changeUser, deleteUser, setDisabled, setUserPassword } from "../../../src/users/index.ts";
import { ConsoleServer } from "../../support/console.ts";
import { cheapHash, newUser, PASSWORD, setCheapPassword, signedIn } from "./people.ts";

setDefaultTimeout(60_000);

const email = "anna@example.org";

describe("a user with a password", () => {
  test("signs in with the address in any case, and the page shows who it is", async () => {
    using server = new ConsoleServer();
    const browser = server.stranger();
    expect(await browser.read("/sign-in-methods", signInMethodsSchema)).toMatchObject({ users: false });
    await newUser(server, email, "member", ["acme"]);
    expect(await browser.read("/sign-in-methods", signInMethodsSchema)).toMatchObject({ users: true, password: false });
    await browser.enter({ email: "Anna@Example.org", password: PASSWORD });
    const session = await browser.read("/session", sessionSchema);
    expect(session).toMatchObject({ entered_by: "user", role: "member", user: { name: `Name of ${email}`, email } });
    expect(server.api.filesHolding(PASSWORD)).toEqual([]);
    for (const secret of [PASSWORD, email]) expect(JSON.stringify(server.api.log)).not.toContain(secret);
  });

  test("gets the same answer for a wrong password, an unknown address and a disabled user", async () => {
    using server = new ConsoleServer();
    await newUser(server, email, "member", ["acme"]);
    const disabled = await newUser(server, "omar@example.org", "operator", []);
    setDisabled(server.api.store, disabled, true, server.api.operator());
    const answers = [];
    for (const body of [
      { email, password: `${PASSWORD} ` },
      { email: "nobody@example.org", password: PASSWORD },
      { email: "omar@example.org", password: PASSWORD },
      { email: "' OR 1=1 --", password: PASSWORD },
    ]) {
      const answer = await server.stranger().send("POST", "/session", body);
      answers.push([answer.status, await answer.text()]);
    }
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]?.[0]).toBe(401);
  });

  test("does not sign in with the operator's password, nor the operator with the user's", async () => {
    using server = new ConsoleServer();
    await newUser(server, email, "member", ["acme"]);
    await setCheapPassword(server, "another horse entirely");
    const browser = server.stranger();
    const operators = { email, password: "another horse entirely" };
    expect(await browser.refusal(browser.send("POST", "/session", operators), 401)).toBe("user_not_valid");
    expect(await browser.refusal(browser.send("POST", "/session", { password: PASSWORD }), 401)).toBe(
      "password_not_valid",
    );
  });

  test.each([
    ["disabled", (server: ConsoleServer, user) => setDisabled(server.api.store, user, true, server.api.operator())],
    ["deleted", (server: ConsoleServer, user) => deleteUser(server.api.store, user, server.api.operator())],
    [
      "given another password",
      async (server: ConsoleServer, user) =>
        setUserPassword(server.api.store, user, await cheapHash("a new password"), server.api.operator()),
    ],
  ] as [string, (server: ConsoleServer, user: Awaited<ReturnType<typeof newUser>>) => unknown][])(
    "is signed out at once when %s",
    async (_what, change) => {
      using server = new ConsoleServer();
      const user = await newUser(server, email, "member", ["acme"]);
      const browser = server.stranger();
      await browser.enter({ email, password: PASSWORD });
      await change(server, user);
      expect((await browser.data("/session")).status).toBe(401);
      const body = { email, password: PASSWORD };
      expect(await browser.refusal(browser.send("POST", "/session", body), 401)).toBe("user_not_valid");
    },
  );

  test("has another role and other accounts from the next request on", async () => {
    using server = new ConsoleServer();
    const { api } = server;
    const user = await newUser(server, email, "member", ["acme"]);
    const browser = server.stranger();
    await browser.enter({ email, password: PASSWORD });
    const id = api.enterCompleted(api.account("acme").id, 1);
    expect((await browser.data(`/recordings/${id}`)).status).toBe(200);
    changeUser(api.store, user, { role: "reader" }, api.operator());
    expect((await browser.send("DELETE", `/recordings/${id}`)).status).toBe(403);
    changeUser(api.store, user, { accounts: [api.account("beta")] }, api.operator());
    expect((await browser.data(`/recordings/${id}`)).status).toBe(404);
    changeUser(api.store, user, { role: "operator" }, api.operator());
    expect((await browser.data("/accounts")).status).toBe(200);
  });

  test("who is no operator any more receives no more of the overview", async () => {
    using server = new ConsoleServer();
    const { api } = server;
    const user = await newUser(server, email, "operator", []);
    const browser = server.stranger();
    await browser.enter({ email, password: PASSWORD });
    const events = (await browser.data("/events")).body?.getReader();
    if (events === undefined) throw new Error("there are no events");
    expect((await events.read()).done).toBe(false);
    changeUser(api.store, user, { role: "reader", accounts: "all" }, api.operator());
    while (!(await events.read()).done);
    expect((await browser.data("/events")).status).toBe(403);
    expect((await browser.data("/session")).status).toBe(200);
  });

  test("stays signed in after the server has restarted", async () => {
    using server = new ConsoleServer();
    const browser = await signedIn(server, email, "member", ["acme"]);
    await server.console?.close();
    await server.api.restart();
    expect((await browser.data("/session")).status).toBe(200);
  });

  test("can be guessed at 30 times in 15 minutes by all strangers, and still signs in on a known device", async () => {
    using server = new ConsoleServer({ trustedProxies: ["127.0.0.1"] });
    server.api.advance(0);
    await newUser(server, email, "member", ["acme"]);
    await newUser(server, "omar@example.org", "member", ["acme"]);
    const attempt = (address: string, password: string, cookie = "", as = email) =>
      server.stranger().data("/session", {
        method: "POST",
        headers: { "X-Forwarded-For": address, Cookie: cookie },
        body: JSON.stringify({ email: as, password }),
      });
    const [, device = ""] = (await attempt("198.51.100.7", PASSWORD)).headers.getSetCookie();
    const cookie = device.split(";")[0] ?? "";
    expect(cookie).toStartWith("transcribe_console_device=");
    for (let tries = 0; tries < 29; tries++) {
      expect((await attempt(`203.0.113.${tries}`, "wrong")).status).toBe(401);
    }
    expect((await attempt("203.0.113.200", PASSWORD)).status).toBe(429);
    // The address in other letters is the same user; another user has attempts, and so has an unknown address.
    expect((await attempt("203.0.113.201", PASSWORD, "", "ANNA@example.org")).status).toBe(429);
    expect((await attempt("203.0.113.202", PASSWORD, "", "omar@example.org")).status).toBe(200);
    expect((await attempt("203.0.113.203", PASSWORD, "", "nobody@example.org")).status).toBe(401);
    expect((await attempt("203.0.113.204", PASSWORD, cookie)).status).toBe(200);
    // The device is known for this user alone.
    expect((await attempt("203.0.113.205", PASSWORD, cookie, "omar@example.org")).status).toBe(200);
    server.api.advance(15 * 60_000);
    expect((await attempt("203.0.113.200", PASSWORD)).status).toBe(200);
  });
});

test("the operator's password opens no session while it is switched off, and its sessions end", async () => {
  using server = new ConsoleServer();
  await setCheapPassword(server, PASSWORD);
  const [byPassword, byLink] = [server.stranger(), await server.operator()];
  await byPassword.enter({ password: PASSWORD });
  const { settings } = server;
  server.settings = { ...settings, console: { ...settings.console, operator_password: false } };
  expect((await byPassword.data("/session")).status).toBe(401);
  expect((await byLink.data("/session")).status).toBe(200);
  const browser = server.stranger();
  expect(await browser.read("/sign-in-methods", signInMethodsSchema)).toMatchObject({ password: false });
  expect(await browser.refusal(browser.send("POST", "/session", { password: PASSWORD }), 401)).toBe(
    "password_not_valid",
  );
  server.settings = settings;
  await browser.enter({ password: PASSWORD });
});

test("the operator's password opens no session if it is replaced while it is checked", async () => {
  using server = new ConsoleServer();
  const { store } = server.api;
  await setCheapPassword(server, PASSWORD);
  const hash = await cheapHash("another horse entirely");
  // Replaces the password after the server has read it, for the check that follows.
  const originalVerify = Bun.password.verify;
  const verify = spyOn(Bun.password, "verify").mockImplementation(async (...values) => {
    store.update(tables.consolePassword).set({ hash }).run();
    return await originalVerify(...values);
  });
  try {
    const browser = server.stranger();
    const answer = browser.send("POST", "/session", { password: PASSWORD });
    expect(await browser.refusal(answer, 401)).toBe("password_not_valid");
    expect(verify).toHaveBeenCalledTimes(1);
  } finally {
    verify.mockRestore();
  }
  await server.stranger().enter({ password: "another horse entirely" });
});
