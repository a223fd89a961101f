import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { sessionSchema, signInMethodsSchema } from "../../../src/console/contract/index.ts";
import { createLink, removePassword, setPassword, signOutEverywhere } from "../../../src/console/index.ts";
import { ConsoleServer } from "../../support/console.ts";
import { setCheapPassword } from "./people.ts";

setDefaultTimeout(60_000);

const minute = 60_000;
const hour = 60 * minute;

const linkOf = ({ api }: ConsoleServer) => createLink(api.store, api.operator()).token;

describe("a sign-in link", () => {
  test("opens a session once, so that its theft fails or is noticed", async () => {
    using server = new ConsoleServer();
    const token = linkOf(server);
    const [first, second] = [server.stranger(), server.stranger()];
    await first.enter({ token });
    expect(await second.refusal(second.send("POST", "/session", { token }), 401)).toBe("link_not_valid");
    expect((await first.data("/overview")).status).toBe(200);
    expect(await second.refusal(second.data("/overview"), 401)).toBe("not_signed_in");
  });

  test("opens one session if it is used twice at the same time", async () => {
    using server = new ConsoleServer();
    const token = linkOf(server);
    const browser = server.stranger();
    const answers = await Promise.all([1, 2, 3, 4].map(() => browser.send("POST", "/session", { token })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
  });

  test("works for ten minutes", async () => {
    using server = new ConsoleServer();
    server.api.advance(0);
    const [one, other] = [linkOf(server), linkOf(server)];
    server.api.advance(10 * minute - 1);
    await server.stranger().enter({ token: one });
    server.api.advance(1);
    const browser = server.stranger();
    expect(await browser.refusal(browser.send("POST", "/session", { token: other }), 401)).toBe("link_not_valid");
  });

  test("is not stored in the data directory, and neither is its session's cookie", async () => {
    using server = new ConsoleServer();
    const token = linkOf(server);
    const browser = server.stranger();
    expect(server.api.filesHolding(token)).toEqual([]);
    await browser.enter({ token });
    const secret = browser.cookie.split("=")[1] ?? "";
    expect(secret).toMatch(/^[\w-]{43}$/);
    expect(server.api.filesHolding(secret)).toEqual([]);
    const logged = JSON.stringify(server.api.log);
    expect(logged).toContain("console.entered");
    expect(logged).not.toContain(token);
    expect(logged).not.toContain(secret);
  });

  const others = ["", "x", "../../etc/passwd", "A".repeat(200)];
  test.each(others)("that was never created opens nothing: %p", async (token) => {
    using server = new ConsoleServer();
    linkOf(server);
    const browser = server.stranger();
    const answer = await browser.send("POST", "/session", { token });
    expect(answer.status).toBe(token === "" ? 422 : 401);
    expect(answer.headers.get("set-cookie")).toBeNull();
  });
});

describe("the cookie of a session", () => {
  test("is hidden from scripts and other sites, and sent to the console's data paths only", async () => {
    using server = new ConsoleServer();
    server.api.advance(0);
    const answer = await server.stranger().send("POST", "/session", { token: linkOf(server) });
    expect(answer.headers.get("set-cookie")).toMatch(
      /^transcribe_console=[\w-]{43}; Max-Age=604800; HttpOnly; SameSite=Strict$/,
    );
    expect(await answer.json()).toMatchObject({ entered_by: "link" });
  });

  test("is of this host alone and sent over HTTPS only if the client uses HTTPS, also behind a proxy", async () => {
    using server = new ConsoleServer({ trustedProxies: ["127.0.0.1"] });
    await setCheapPassword(server, "correct horse battery");
    const forwarded = { "X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.1" };
    const browser = server.stranger();
    const enter = (headers: Record<string, string>) =>
      browser.data("/session", {
        method: "POST",
        headers,
        body: JSON.stringify({ password: "correct horse battery" }),
      });
    const secure = (await enter(forwarded)).headers.getSetCookie();
    for (const cookie of secure) expect(cookie).toEndWith("; HttpOnly; SameSite=Strict; Secure; Path=/");
    const nameOf = (cookie: string) => cookie.split("=")[0];
    const names = ["transcribe_console", "transcribe_console_device"];
    expect(secure.map(nameOf)).toEqual(names.map((name) => `__Host-${name}`));
    const plain = (await enter({})).headers.getSetCookie();
    expect(plain.map(nameOf)).toEqual(names);
    expect(plain.join()).not.toMatch(/secure|path|domain/i);

    const statusWith = async (Cookie: string, headers: Record<string, string>) =>
      (await browser.data("/session", { headers: { ...headers, Cookie } })).status;
    const [ofHttps = "", ofHttp = ""] = [secure[0], plain[0]].map((cookie) => cookie?.split(";")[0]);
    const secret = ofHttps.split("=")[1];
    expect(await statusWith(ofHttps, forwarded)).toBe(200);
    expect(await statusWith(`other=1; ${ofHttps}`, forwarded)).toBe(200);
    expect(await statusWith(`${ofHttp}; ${ofHttps}`, forwarded)).toBe(200);
    expect(await statusWith(ofHttp, {})).toBe(200);
    // Nothing that a browser accepts from another host counts over HTTPS.
    for (const name of [
      "transcribe_console",
      "__host-transcribe_console",
      "__HOST-transcribe_console",
      "__%48ost-transcribe_console",
      "\u00a0__Host-transcribe_console",
      "\u0085__Host-transcribe_console",
      "\t__Host-transcribe_console",
      "=__Host-transcribe_console",
      "x,__Host-transcribe_console",
      "__Secure-transcribe_console",
    ])
      expect([name, await statusWith(`a=1; ${name}=${secret}`, forwarded)]).toEqual([name, 401]);

    const headers = { ...forwarded, Cookie: ofHttps };
    const signedOut = await browser.data("/session", { method: "DELETE", headers });
    expect(signedOut.headers.get("set-cookie")).toBe(
      "__Host-transcribe_console=; Max-Age=0; HttpOnly; SameSite=Strict; Secure; Path=/",
    );
    expect(await statusWith(ofHttps, forwarded)).toBe(401);
  });

  const values = [
    "",
    "transcribe_console=",
    "transcribe_console=x",
    "transcribe_console=%00",
    "other=1; transcribe_console",
  ];
  test.each(values)("opens nothing if it is altered: %p", async (cookie) => {
    using server = new ConsoleServer();
    await server.operator();
    const browser = server.stranger();
    browser.cookie = cookie;
    expect(await browser.refusal(browser.data("/session"), 401)).toBe("not_signed_in");
  });

  test("is not accepted by the API, and an API key is not accepted by the console", async () => {
    using server = new ConsoleServer();
    const operator = await server.operator();
    const secret = operator.cookie.split("=")[1] ?? "";
    for (const headers of [{ Authorization: `Bearer ${secret}` }, { Cookie: operator.cookie }]) {
      const answer = await fetch(`${server.api.baseUrl}/transcriptions`, { headers });
      expect(answer.status).toBe(401);
    }
    const { key } = server.api.client("first");
    const browser = server.stranger();
    for (const headers of [{ Authorization: `Bearer ${key}` }, { Cookie: `transcribe_console=${key}` }]) {
      expect(await browser.refusal(browser.data("/overview", { headers }), 401)).toBe("not_signed_in");
    }
  });
});

describe("a session", () => {
  test("ends after twelve hours without a request, and after a week in any case", async () => {
    using server = new ConsoleServer();
    server.api.advance(0);
    const [idle, busy] = [await server.operator(), await server.operator()];
    for (let hours = 0; hours < 7 * 24 - 1; hours += 1) {
      server.api.advance(hour);
      expect((await busy.data("/session")).status).toBe(200);
      if (hours === 10) expect((await idle.data("/session")).status).toBe(200);
    }
    expect((await idle.data("/session")).status).toBe(401);
    server.api.advance(hour);
    expect((await busy.data("/session")).status).toBe(401);
  });

  test("reports when it ends", async () => {
    using server = new ConsoleServer();
    server.api.advance(0);
    const session = await (await server.operator()).read("/session", sessionSchema);
    const after = (time: string) => (Date.parse(time) - Date.parse(session.entered_at)) / hour;
    expect([after(session.ends_at), after(session.idle_ends_at)]).toEqual([168, 12]);
  });

  test("survives a restart of the server", async () => {
    using server = new ConsoleServer();
    const operator = await server.operator();
    await server.console?.close();
    await server.api.restart();
    expect((await operator.data("/session")).status).toBe(200);
  });

  test("ends with its cookie when it is signed out, and other sessions continue", async () => {
    using server = new ConsoleServer();
    const [one, other] = [await server.operator(), await server.operator()];
    const answer = await one.send("DELETE", "/session");
    expect(await answer.json()).toEqual({ location: null });
    expect(answer.headers.get("set-cookie")).toBe("transcribe_console=; Max-Age=0; HttpOnly; SameSite=Strict");
    expect((await one.data("/session")).status).toBe(401);
    expect((await other.data("/session")).status).toBe(200);
  });

  test("ends with all other sessions and links when a command signs out everywhere", async () => {
    using server = new ConsoleServer();
    const operators = [await server.operator(), await server.operator()];
    const token = linkOf(server);
    expect(signOutEverywhere(server.api.store, server.api.operator())).toBe(2);
    for (const operator of operators) expect((await operator.data("/overview")).status).toBe(401);
    const browser = server.stranger();
    expect(await browser.refusal(browser.send("POST", "/session", { token }), 401)).toBe("link_not_valid");
  });
});

describe("the operator's password", () => {
  const password = "correct horse battery";

  test("opens a session if it is set, and the page learns whether it is", async () => {
    using server = new ConsoleServer();
    const browser = server.stranger();
    expect(await browser.read("/sign-in-methods", signInMethodsSchema)).toEqual({
      provider: null,
      users: false,
      password: false,
    });
    expect(await browser.refusal(browser.send("POST", "/session", { password }), 401)).toBe("password_not_valid");
    await setPassword(server.api.store, password, server.api.operator());
    expect(await browser.read("/sign-in-methods", signInMethodsSchema)).toEqual({
      provider: null,
      users: false,
      password: true,
    });
    expect(await browser.refusal(browser.send("POST", "/session", { password: `${password} ` }), 401)).toBe(
      "password_not_valid",
    );
    await browser.enter({ password });
    expect(await browser.read("/session", sessionSchema)).toMatchObject({ entered_by: "password" });
    expect(server.api.filesHolding(password)).toEqual([]);
    expect(JSON.stringify(server.api.log)).not.toContain(password);
  });

  test("ends the sessions that were opened with it when it is changed or removed", async () => {
    using server = new ConsoleServer();
    const { store } = server.api;
    const byLink = await server.operator();
    for (const change of [
      () => setPassword(store, "another horse entirely", server.api.operator()),
      async () => removePassword(store, server.api.operator()),
    ]) {
      await setCheapPassword(server, password);
      const browser = server.stranger();
      await browser.enter({ password });
      await change();
      expect((await browser.data("/session")).status).toBe(401);
    }
    expect((await byLink.data("/session")).status).toBe(200);
    expect(removePassword(store, server.api.operator())).toBe(false);
  });

  test.each(["short", "elevenchars", "x".repeat(257)])("can't be too short or too long: %p", async (text) => {
    using server = new ConsoleServer();
    expect(setPassword(server.api.store, text, server.api.operator())).rejects.toThrow("12 to 256 characters");
  });

  test("can be tried ten times in 15 minutes from an address, right or wrong, and a sign-in link works meanwhile", async () => {
    using server = new ConsoleServer();
    server.api.advance(0);
    await setCheapPassword(server, password);
    const browser = server.stranger();
    const attempt = (text: string) => browser.send("POST", "/session", { password: text });
    for (let tries = 0; tries < 10; tries++) expect((await attempt(`wrong ${tries}`)).status).toBe(401);
    const refused = await attempt(password);
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBe("900");
    expect(await refused.json()).toMatchObject({ error: { code: "too_many_attempts", retry_after_seconds: 900 } });
    await browser.enter({ token: linkOf(server) });
    server.api.advance(15 * minute);
    await browser.enter({ password });
  });

  test("opens a session on a known device, although other devices at its address have used up all attempts", async () => {
    using server = new ConsoleServer({ trustedProxies: ["127.0.0.1"] });
    server.api.advance(0);
    await setCheapPassword(server, password);
    const attempt = (text: string, cookie = "") =>
      server.stranger().data("/session", {
        method: "POST",
        headers: { "X-Forwarded-For": "198.51.100.7", Cookie: cookie },
        body: JSON.stringify({ password: text }),
      });
    const first = await attempt(password);
    const [, device = ""] = first.headers.getSetCookie();
    expect(device).toMatch(
      /^transcribe_console_device=[\w-]{43}\.\d+\.[\w-]{43}; Max-Age=15552000; HttpOnly; SameSite=Strict$/,
    );
    const cookie = device.split(";")[0] ?? "";
    for (let tries = 0; tries < 9; tries++) expect((await attempt("wrong, of course")).status).toBe(401);
    const forged = cookie.replace(/.$/, (last) => (last === "A" ? "B" : "A"));
    const prolonged = cookie.replace(/\.(\d+)\./, (_, until: string) => `.${Number(until) + 1}.`);
    for (const other of ["", forged, prolonged, "transcribe_console_device=x"]) {
      expect([other, (await attempt(password, other)).status]).toEqual([other, 429]);
    }
    expect((await attempt("wrong, of course", cookie)).status).toBe(401);
    const again = await attempt(password, cookie);
    expect(again.status).toBe(200);
    expect(JSON.stringify(server.api.log)).not.toContain(cookie.split("=")[1] ?? "");

    // The cookie opens no session, has a bounded number of attempts, and becomes invalid when the password changes.
    const browser = server.stranger();
    browser.cookie = cookie;
    expect(await browser.refusal(browser.data("/overview"), 401)).toBe("not_signed_in");
    for (let tries = 0; tries < 8; tries++) expect((await attempt("wrong, of course", cookie)).status).toBe(401);
    expect((await attempt(password, cookie)).status).toBe(429);
    server.api.advance(15 * minute);
    for (let tries = 0; tries < 10; tries++) await attempt("wrong, of course");
    await setCheapPassword(server, password);
    expect((await attempt(password, cookie)).status).toBe(429);
  });
});

test("a body that is too long or malformed is refused without being stored", async () => {
  using server = new ConsoleServer();
  const browser = server.stranger();
  const bodies: [string, number][] = [
    ["", 400],
    ["{", 400],
    ["[]", 422],
    ["{}", 422],
    ['{"token":1}', 422],
    [`{"token":"${"x".repeat(201)}"}`, 422],
    [`{"token":"${"x".repeat(140_000)}"}`, 413],
  ];
  for (const [body, status] of bodies) {
    const answer = await browser.data("/session", { method: "POST", body });
    expect([body.slice(0, 20), answer.status]).toEqual([body.slice(0, 20), status]);
  }
});
