import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { readAudit } from "../../../src/accounts/index.ts";
import { recordingPageSchema, sessionSchema, signInMethodsSchema } from "../../../src/console/contract/index.ts";
import { accountIdsOf, deleteUser, listUsers, nameOfActor, setDisabled } from "../../../src/users/index.ts";
import type { Browser } from "../../support/console.ts";
import { ProviderStage } from "./provider-stage.ts";

setDefaultTimeout(60_000);

const minute = 60_000;
const people = {
  anna: { name: "Anna Ames", email: "anna@example.org", email_verified: true, groups: ["sales", "staff"] },
  omar: { name: "Omar Oz", email: "omar@example.org", email_verified: true, groups: ["admins"] },
  rita: { name: "Rita Roe", email: "rita@partner.example", email_verified: true, groups: [] },
  fake: { name: "Fake", email: "omar@example.org", email_verified: false, groups: ["strangers"] },
};
const rules = ["operator: group admins", "member acme: group sales", "reader acme: domain partner.example"];

const message = async (answer: Promise<Response>) =>
  ((await (await answer).json()) as { error: { message: string } }).error.message;

describe("a person whom the provider identifies", () => {
  test.each([true, false])("gets the role of the rules, with claims in the ID token: %p", async (claimsInToken) => {
    await using stage = await ProviderStage.open(people, rules, { claimsInToken });
    const { server } = stage;
    const mine = server.api.enterCompleted(server.api.account("acme").id, 1);
    const other = server.api.enterCompleted(server.api.account("other").id, 1);
    const methods = await server.stranger().read("/sign-in-methods", signInMethodsSchema);
    expect(methods).toEqual({ provider: "Example", users: false, password: false });
    for (const [person, role, seen] of [
      ["omar", "operator", [other, mine]],
      ["anna", "member", [mine]],
      ["rita", "reader", [mine]],
    ] as const) {
      const browser = await stage.enter(person);
      const session = await browser.read("/session", sessionSchema);
      const { name, email } = people[person];
      expect(session).toMatchObject({ entered_by: "provider", role, user: { name, email } });
      const { recordings } = await browser.read("/recordings", recordingPageSchema);
      expect(recordings.map(({ id }) => id)).toEqual([...seen]);
    }
    const stored = listUsers(server.api.store).map(({ subject, role }) => [subject, role]);
    expect(stored).toEqual([
      ["omar", "operator"],
      ["anna", "member"],
      ["rita", "reader"],
    ]);
    const log = JSON.stringify(server.api.log);
    expect(log).toContain("console.entered");
    for (const secret of ["anna", "Anna", "example.org", "sales"]) expect(log).not.toContain(secret);
  });

  test("does not get in without a rule, and an address that is not verified counts for none", async () => {
    await using stage = await ProviderStage.open(people, [
      "operator: email omar@example.org",
      "reader acme: domain example.org",
    ]);
    for (const person of ["fake", "rita"]) {
      const browser = stage.server.stranger();
      const query = await stage.identify(browser, person);
      const refused = await message(browser.send("POST", "/session", { provider_query: query }));
      expect(refused).toBe("Example knows you, but this server gives you no access. Ask its operator.");
    }
    expect(listUsers(stage.server.api.store)).toEqual([]);
  });

  test.each<[string, string, object, string]>([
    ["a subject of 256 characters", "x".repeat(256), {}, "identifies you by a text that is longer than 255 characters"],
    ["a session that is over", "anna", { session_expiry: 1.5 }, "has ended"],
    ["a session that was over before time began", "anna", { session_expiry: -1e300 }, "has ended"],
  ])("does not get in with %s, and is told why", async (_what, subject, claims, why) => {
    await using stage = await ProviderStage.open({ [subject]: { ...people.anna, ...claims } }, rules);
    const browser = stage.server.stranger();
    const query = await stage.identify(browser, subject);
    const answer = browser.send("POST", "/session", { provider_query: query });
    expect([(await answer).status, await message(answer)]).toEqual([401, expect.stringContaining(`Example ${why}`)]);
    expect(listUsers(stage.server.api.store)).toEqual([]);
  });

  test.each<[string, object]>([
    ["claims that are as long as they may be", { name: "N".repeat(100_000), email: `${"a".repeat(64)}@example.org` }],
    ["claims that are too long", { email: `${"a".repeat(10_000)}@example.org`, groups: ["sales", "g".repeat(50_000)] }],
    ["an end of the session in fractions of a second", { session_expiry: Date.now() / 1000 + 3600.000_123 }],
    ["an end of the session that no clock reaches", { session_expiry: 1e300 }],
    ["names of other types", { name: ["Anna"], email: { a: 1 }, email_verified: "yes" }],
  ])("gets in with %s", async (_what, claims) => {
    await using stage = await ProviderStage.open({ anna: { ...people.anna, ...claims } as never }, rules);
    const browser = await stage.enter("anna");
    expect(await browser.read("/session", sessionSchema)).toMatchObject({ role: "member" });
  });

  test("does not get in for accounts that do not exist, and the log names them", async () => {
    await using stage = await ProviderStage.open(people, ["member acmee: group sales"]);
    expect(stage.enter("anna")).rejects.toThrow("do not exist");
    expect(listUsers(stage.server.api.store)).toEqual([]);
    expect(stage.server.api.log).toContainEqual(
      expect.objectContaining({ event: "console.unknown_accounts", accounts: ["acmee"] }),
    );
  });

  test("is named by id alone in the audit log, and leaves nothing behind when deleted", async () => {
    await using stage = await ProviderStage.open(people, rules);
    const { api } = stage.server;
    const id = api.enterCompleted(api.account("acme").id, 1);
    const browser = await stage.enter("anna");
    expect((await browser.send("DELETE", `/recordings/${id}`)).status).toBe(204);
    const user = stage.onlyUser();
    const authors = api.store.$client
      .query("SELECT DISTINCT actor FROM audit_log WHERE action = 'recordings.delete'")
      .all();
    expect(authors).toEqual([{ actor: `user:${user.id}` }]);
    expect(nameOfActor(api.store, `user:${user.id}`)).toBe("Anna Ames (anna@example.org)");
    expect(api.filesHolding("anna@example.org")).not.toEqual([]);
    deleteUser(api.store, user, api.operator());
    expect((await browser.data("/session")).status).toBe(401);
    expect(nameOfActor(api.store, `user:${user.id}`)).toBe(`deleted user ${user.id}`);
    api.store.$client.run("PRAGMA wal_checkpoint(TRUNCATE)");
    for (const text of ["anna@example.org", "Anna Ames"]) expect(api.filesHolding(text)).toEqual([]);
  });
});

describe("a session of the provider", () => {
  test.each([
    ["no rule matches", (_stage: ProviderStage, groups: string[]) => void groups.splice(0), "no access"],
    [
      "the accounts are gone",
      (stage: ProviderStage) => stage.server.api.removeAccount(stage.server.api.account("acme")),
      "do not exist",
    ],
  ] as const)(
    "ends, with the person's role and accounts, when a later sign-in finds that %s",
    async (_what, change, why) => {
      const groups = ["sales"];
      await using stage = await ProviderStage.open({ anna: { ...people.anna, groups } }, ["member acme: group sales"]);
      const { api } = stage.server;
      const before = await stage.enter("anna");
      await change(stage, groups);
      await expect(stage.enter("anna")).rejects.toThrow(why);
      expect((await before.data("/session")).status).toBe(401);
      const user = stage.onlyUser();
      expect([user.role, user.allAccounts, accountIdsOf(api.store, user)]).toEqual(["reader", false, []]);
      expect(readAudit(api.store, 1)).toMatchObject([{ action: "users.change", subject: user.id }]);
      groups.splice(0, 1, "sales");
      api.account("acme");
      expect((await (await stage.enter("anna")).data("/recordings")).status).toBe(200);
    },
  );

  test("of a person who got other accounts at a sign-in has an entry in the audit log, and no other sign-in has one", async () => {
    const groups = ["sales"];
    await using stage = await ProviderStage.open({ anna: { ...people.anna, groups } }, [
      "member acme: group sales",
      "member beta: group others",
    ]);
    const { api } = stage.server;
    for (const name of ["acme", "beta"]) api.account(name);
    const changes = () => readAudit(api.store, 100).filter(({ action }) => action === "users.change");
    await stage.enter("anna");
    await stage.enter("anna");
    expect(changes()).toEqual([]);
    groups.splice(0, 1, "others");
    await stage.enter("anna");
    expect(changes()).toMatchObject([{ details: '{"role":"member","accounts":["beta"]}' }]);
  });

  test("ends when the rules or the provider change, and a later sign-in follows the new rules", async () => {
    await using stage = await ProviderStage.open(people, rules);
    const before = await stage.enter("anna");
    stage.change({ rules: ["reader acme: group sales"] });
    expect((await before.data("/session")).status).toBe(401);
    const after = await stage.enter("anna");
    expect(await after.read("/session", sessionSchema)).toMatchObject({ role: "reader" });
    stage.change({ rules: ["reader acme: group others"] });
    expect((await after.data("/session")).status).toBe(401);
    expect(stage.enter("anna")).rejects.toThrow("no access");
  });

  test("ends when the user is disabled, who can't sign in again until enabled", async () => {
    await using stage = await ProviderStage.open(people, rules);
    const { api } = stage.server;
    const browser = await stage.enter("anna");
    const user = stage.onlyUser();
    setDisabled(api.store, user, true, api.operator());
    expect((await browser.data("/session")).status).toBe(401);
    expect(stage.enter("anna")).rejects.toThrow("disabled");
    setDisabled(api.store, user, false, api.operator());
    expect((await (await stage.enter("anna")).data("/session")).status).toBe(200);
  });

  test("ends when the provider says so in the ID token", async () => {
    const ends = Math.floor(Date.now() / 1000) + 20 * 60;
    const anna = { ...people.anna, session_expiry: ends };
    await using stage = await ProviderStage.open({ anna }, rules, { claimsInToken: true });
    const { api } = stage.server;
    const browser = await stage.enter("anna");
    expect(Date.parse((await browser.read("/session", sessionSchema)).ends_at)).toBe(ends * 1000);
    api.advance(21 * minute);
    expect((await browser.data("/session")).status).toBe(401);
  });

  test("ends after oidc.session_minutes at the latest", async () => {
    await using stage = await ProviderStage.open(people, rules);
    const { api } = stage.server;
    const browser = await stage.enter("anna");
    api.advance(11 * 60 * minute);
    expect((await browser.data("/session")).status).toBe(200);
    api.advance(61 * minute);
    expect((await browser.data("/session")).status).toBe(401);
  });
});

describe("a sign-in by the provider", () => {
  type Attempt = (stage: ProviderStage, browser: Browser) => Promise<string>;
  const withQuery = (part: RegExp, other: string): Attempt => {
    return async (stage, browser) => (await stage.identify(browser, "anna")).replace(part, other);
  };
  const withRequest = (part: RegExp, other: string): Attempt => {
    return async (stage, browser) => stage.provider.signIn((await stage.begin(browser)).replace(part, other), "anna");
  };
  /** Changes something between the answer of the provider and the end of the sign-in. */
  const after = (change: (stage: ProviderStage, browser: Browser) => void): Attempt => {
    return async (stage, browser) => {
      const query = await stage.identify(browser, "anna");
      change(stage, browser);
      return query;
    };
  };
  const refusals: [string, Attempt][] = [
    ["with another state", withQuery(/state=[^&]*/, "state=other")],
    ["with another nonce", withRequest(/nonce=[^&]*/, "nonce=other")],
    ["with another code challenge", withRequest(/code_challenge=[^&]*/, `code_challenge=${"A".repeat(43)}`)],
    ["of another issuer", withQuery(/iss=[^&]*/, "iss=https%3A%2F%2Fevil.example")],
    ["with a made-up code", withQuery(/code=[^&]*/, "code=made-up")],
    [
      "that began in another browser",
      async (stage, browser) => {
        const query = await stage.identify(stage.server.stranger(), "anna");
        await stage.begin(browser);
        return query;
      },
    ],
    [
      "that began before the settings named another provider",
      after((stage) => stage.change({ issuer: stage.provider.issuer.replace("127.0.0.1", "localhost") })),
    ],
    [
      "without the cookie of its begin",
      after((_stage, browser) => {
        browser.cookie = "";
      }),
    ],
    [
      "with an altered cookie",
      after((_stage, browser) => {
        browser.cookie = `${browser.cookie.slice(0, -4)}AAAA`;
      }),
    ],
    ["that took longer than 15 minutes", after(({ server }) => server.api.advance(15 * minute))],
    [
      "that the person has cancelled",
      async (stage, browser) => {
        const state = new URL(await stage.begin(browser)).searchParams.get("state") ?? "";
        return `?${new URLSearchParams({ error: "access_denied", error_description: "<b>", state, iss: stage.provider.issuer })}`;
      },
    ],
    [
      "whose query is another page's",
      async (stage, browser) => {
        await stage.begin(browser);
        return "?x=1";
      },
    ],
  ];
  test.each(refusals)("%s signs nobody in", async (_what, queryOf) => {
    await using stage = await ProviderStage.open(people, rules);
    const browser = stage.server.stranger();
    const answer = await browser.send("POST", "/session", { provider_query: await queryOf(stage, browser) });
    expect(answer.headers.get("set-cookie")).toBeNull();
    expect(await browser.refusal(answer, 401)).toBe("sign_in_failed");
    expect(listUsers(stage.server.api.store)).toEqual([]);
    const log = JSON.stringify(stage.server.api.log);
    expect(log).not.toContain("anna");
  });

  test("works once: its code is not accepted again", async () => {
    await using stage = await ProviderStage.open(people, rules);
    const [browser, thief] = [stage.server.stranger(), stage.server.stranger()];
    const query = await stage.identify(browser, "anna");
    thief.cookie = browser.cookie;
    await browser.enter({ provider_query: query });
    expect(await thief.refusal(thief.send("POST", "/session", { provider_query: query }), 401)).toBe("sign_in_failed");
  });

  test.each(["client_secret_post", "client_secret_basic"] as const)(
    "sends the client's secret as the provider accepts it: %s",
    async (way) => {
      const text = "a-b_c.d~e+f/g=h%i:j";
      await using stage = await ProviderStage.open(people, rules, { secret: { text, way } });
      using directory = temporaryDirectory();
      const file = join(directory.path, "secret");
      const { server } = stage;
      stage.change({ client_secret_file: file });
      for (const written of [text, "wrong", `${text}\n`]) {
        writeFileSync(file, written);
        const browser = server.stranger();
        const query = await stage.identify(browser, "anna");
        const answer = browser.send("POST", "/session", { provider_query: query });
        if (written !== "wrong") expect((await answer).status).toBe(200);
        else expect(await message(answer)).toBe("Example has refused the sign-in (invalid_client). Sign in again.");
      }
      const failures = server.api.log.filter(({ event }) => event === "console.provider_failed");
      expect(failures).toMatchObject([{ reason: "invalid_client", status: 401 }]);
    },
  );

  const pages = [
    "https://evil.example/console/",
    "http://127.0.0.1:1/console/",
    "/console/",
    "javascript:alert(1)//console/",
    "HERE/console/?next=https://evil.example",
    "HERE/console/#x",
    "HERE/console/../console/",
    "HERE/api/",
    "http://user:password@127.0.0.1/console/",
  ];
  test.each(pages)("does not begin for the page %p", async (page) => {
    await using stage = await ProviderStage.open(people, rules);
    const browser = stage.server.stranger();
    const answer = browser.send("POST", "/provider-sign-in", { page: page.replace("HERE", stage.server.origin) });
    expect(await browser.refusal(answer, 422)).toBe("validation_failed");
  });

  test("begins for the page behind a proxy with a path prefix, and its cookie is for this browser alone", async () => {
    await using stage = await ProviderStage.open(people, rules);
    const page = `${stage.server.origin}/tools/transcribe/console/`;
    const answer = await stage.server.stranger().send("POST", "/provider-sign-in", { page });
    expect(answer.headers.get("set-cookie")).toMatch(
      /^transcribe_console_sign_in=[\w.-]+; Max-Age=900; HttpOnly; SameSite=Strict$/,
    );
    const location = new URL(((await answer.json()) as { location: string }).location);
    expect(location.searchParams.get("redirect_uri")).toBe(page);
    expect(location.searchParams.get("code_challenge_method")).toBe("S256");
  });

  test("over HTTPS has the cookie of this host alone, and is not finished with one of another name", async () => {
    await using stage = await ProviderStage.open(people, rules, {
      trustedProxies: ["127.0.0.1"],
      origin: (own) => own.replace("http:", "https:"),
    });
    const headers = { "X-Forwarded-Proto": "https", Origin: stage.server.origin.replace("http:", "https:") };
    const browser = stage.server.stranger();
    const post = (path: string, body: object) =>
      browser.data(path, { method: "POST", headers, body: JSON.stringify(body) });
    const begin = async () => {
      const answer = await post("/provider-sign-in", { page: stage.page });
      const cookie = answer.headers.get("set-cookie") ?? "";
      expect(cookie).toMatch(/^__Host-transcribe_console_sign_in=[\w.-]+; .*; Secure; Path=\/$/);
      const { location } = (await answer.json()) as { location: string };
      return { cookie: cookie.split(";")[0] ?? "", query: await stage.provider.signIn(location, "anna") };
    };
    const planted = await begin();
    browser.cookie = planted.cookie.replace("__Host-", "");
    const refused = await post("/session", { provider_query: planted.query });
    expect(await browser.refusal(refused, 401)).toBe("sign_in_failed");
    const own = await begin();
    browser.cookie = own.cookie;
    const entered = await post("/session", { provider_query: own.query });
    expect(entered.status).toBe(200);
    const [session = "", cleared = ""] = entered.headers.getSetCookie();
    expect(session).toMatch(
      /^__Host-transcribe_console=[\w-]{43}; Max-Age=\d+; HttpOnly; SameSite=Strict; Secure; Path=\/$/,
    );
    expect(cleared).toBe("__Host-transcribe_console_sign_in=; Max-Age=0; HttpOnly; SameSite=Strict; Secure; Path=/");
  });

  /** Begins a sign-in with a made-up code. @returns a function that finishes it from an address */
  const madeUp = async (stage: ProviderStage) => {
    const browser = stage.server.stranger();
    const state = new URL(await stage.begin(browser)).searchParams.get("state") ?? "";
    const query = new URLSearchParams({ code: "made-up", state, iss: stage.provider.issuer });
    const body = JSON.stringify({ provider_query: `?${query}` });
    return (address: string) =>
      browser.data("/session", { method: "POST", headers: { "X-Forwarded-For": address }, body });
  };

  test("by many at once makes few requests to the provider at a time, and the others are asked to try again", async () => {
    await using stage = await ProviderStage.open(people, rules, { trustedProxies: ["127.0.0.1"] });
    const { provider } = stage;
    const anna = await stage.enter("anna");
    const ready = Promise.withResolvers<void>();
    provider.tokensAfter = ready.promise;
    const finishes = await Promise.all(Array.from({ length: 100 }, () => madeUp(stage)));
    const logoutToken = await provider.logoutToken({ sub: "anna" });
    const answers: Response[] = [];
    const all = finishes.map(async (finish, index) => answers.push(await finish(`203.0.113.${index % 40}`)));
    while (answers.length < 80) await Bun.sleep(5);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
    expect(answers.every(({ headers }) => headers.get("retry-after") !== null)).toBe(true);
    // A logout has its own places.
    const body = new URLSearchParams({ logout_token: logoutToken });
    expect((await fetch(`${stage.page}back-channel-logout`, { method: "POST", body })).status).toBe(200);
    expect((await anna.data("/session")).status).toBe(401);
    ready.resolve();
    await Promise.all(all);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(20);
    expect(provider.mostAtOnce).toBeLessThanOrEqual(21);
  });

  test("is refused by the provider 30 times for one address, and then no more asked for in 15 minutes", async () => {
    await using stage = await ProviderStage.open(people, rules, { trustedProxies: ["127.0.0.1"] });
    for (let count = 0; count < 30; count++) {
      expect((await (await madeUp(stage))("203.0.113.1")).status).toBe(401);
    }
    const last = await madeUp(stage);
    const refused = await last("203.0.113.1");
    expect([refused.status, Number(refused.headers.get("retry-after")) > 0]).toEqual([429, true]);
    expect((await last("203.0.113.2")).status).toBe(401);
    expect((await (await stage.enter("anna")).data("/session")).status).toBe(200);
  });

  test("that has begun is used once, also after its code was refused", async () => {
    await using stage = await ProviderStage.open(people, rules);
    const browser = stage.server.stranger();
    const query = await stage.identify(browser, "anna");
    const foreign = query.replace(/state=[^&]*/, "state=other");
    expect(await message(browser.send("POST", "/session", { provider_query: foreign }))).toContain("not valid");
    const wrong = query.replace(/code=[^&]*/, "code=made-up");
    expect(await message(browser.send("POST", "/session", { provider_query: wrong }))).toContain("invalid_grant");
    expect(await message(browser.send("POST", "/session", { provider_query: query }))).toContain("has expired");
  });

  test("is refused with the reason when the provider can't be reached, and works when it is back", async () => {
    await using stage = await ProviderStage.open(people, rules);
    const { server } = stage;
    stage.change({ issuer: "http://127.0.0.1:1" });
    const browser = server.stranger();
    expect(await message(browser.send("POST", "/provider-sign-in", { page: stage.page }))).toContain(
      "can't be reached",
    );
    stage.change({ issuer: stage.provider.issuer });
    expect((await (await stage.enter("anna")).data("/session")).status).toBe(200);
  });
});

describe("a logout token of the provider", () => {
  const logout = (stage: ProviderStage, token: string) =>
    fetch(`${stage.page}back-channel-logout`, { method: "POST", body: new URLSearchParams({ logout_token: token }) });
  const isIn = async (browser: Browser) => (await browser.data("/session")).status === 200;

  test("ends all sessions of its person, and no others", async () => {
    await using stage = await ProviderStage.open(people, rules);
    const [anna, again, omar] = [await stage.enter("anna"), await stage.enter("anna"), await stage.enter("omar")];
    const link = await stage.server.operator();
    expect((await logout(stage, await stage.provider.logoutToken({ sub: "anna" }))).status).toBe(200);
    const entry = readAudit(stage.server.api.store, 1);
    expect(entry).toMatchObject([{ actor: "provider", action: "console.sign-out", details: '{"sessions":2}' }]);
    expect([await isIn(anna), await isIn(again), await isIn(omar), await isIn(link)]).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });

  test("ends one session that it names, and nothing for a person or session that is unknown", async () => {
    await using stage = await ProviderStage.open(people, rules, { claimsInToken: true });
    const browsers = [await stage.enter("anna"), await stage.enter("anna")];
    for (const claims of [{ sub: "nobody" }, { sid: "unknown" }, { sub: "omar", sid: "unknown" }]) {
      expect((await logout(stage, await stage.provider.logoutToken(claims))).status).toBe(200);
    }
    expect(await Promise.all(browsers.map(isIn))).toEqual([true, true]);
  });

  test("also ends a sign-in that is not finished yet", async () => {
    await using stage = await ProviderStage.open(people, rules);
    const browser = stage.server.stranger();
    const query = await stage.identify(browser, "anna");
    const finishing = Promise.withResolvers<void>();
    stage.provider.tokensAfter = finishing.promise;
    const answer = message(browser.send("POST", "/session", { provider_query: query }));
    expect((await logout(stage, await stage.provider.logoutToken({ sub: "anna" }))).status).toBe(200);
    finishing.resolve();
    expect(await answer).toContain("signed out at the provider");
    expect(await isIn(await stage.enter("anna"))).toBe(true);
  });

  test("that can't be checked now is to be sent again", async () => {
    await using stage = await ProviderStage.open(people, rules);
    const token = await stage.provider.logoutToken({ sub: "anna" });
    stage.change({ issuer: "http://127.0.0.1:1" });
    const answer = await logout(stage, token);
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "5"]);
  });

  const event = { "http://schemas.openid.net/event/backchannel-logout": {} };
  const faulty: [string, Readonly<Record<string, unknown>>][] = [
    ["of another issuer", { iss: "https://evil.example" }],
    ["for another client", { aud: "other" }],
    ["that is old", { iat: Math.floor(Date.now() / 1000) - 3600 }],
    ["of the future", { iat: Math.floor(Date.now() / 1000) + 3600 }],
    ["that has expired", { exp: Math.floor(Date.now() / 1000) - 600 }],
    ["without an event", { events: undefined }],
    ["with another event", { events: { other: {} } }],
    ["with a null event", { events: { [Object.keys(event)[0] ?? ""]: null } }],
    ["with a list of events", { events: Object.keys(event) }],
    ["that is an ID token with a nonce", { nonce: "x" }],
    ["without an id", { jti: undefined }],
    ["that names nobody", { sub: undefined }],
  ];
  test.each(faulty)("%s is refused and ends nothing", async (_what, claims) => {
    await using stage = await ProviderStage.open(people, rules);
    const anna = await stage.enter("anna");
    const answer = await logout(stage, await stage.provider.logoutToken({ sub: "anna", ...claims }));
    expect(answer.status).toBe(400);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(await isIn(anna)).toBe(true);
  });

  test("that is not signed by the provider is refused", async () => {
    await using stage = await ProviderStage.open(people, rules);
    const anna = await stage.enter("anna");
    await using other = await ProviderStage.open(people, rules, { hasOwnKey: true });
    const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const valid = await stage.provider.logoutToken({ sub: "anna" });
    const payload = valid.split(".")[1] ?? "";
    const tokens = [
      await other.provider.logoutToken({ sub: "anna", iss: stage.provider.issuer }),
      `${part({ alg: "none" })}.${payload}.`,
      `${part({ alg: "HS256", kid: "test" })}.${payload}.${"A".repeat(43)}`,
      valid.replace(/.{8}$/, "AAAAAAAA"),
      "x",
      "",
    ];
    for (const token of tokens) expect((await logout(stage, token)).status).toBe(400);
    expect((await fetch(`${stage.page}back-channel-logout`, { method: "POST" })).status).toBe(400);
    expect((await fetch(`${stage.page}back-channel-logout`)).status).toBe(405);
    expect(await isIn(anna)).toBe(true);
  });

  test("is refused by a server without a provider", async () => {
    await using stage = await ProviderStage.open(people, rules);
    const token = await stage.provider.logoutToken({ sub: "anna" });
    stage.change({ issuer: "" });
    expect((await logout(stage, token)).status).toBe(400);
  });
});
