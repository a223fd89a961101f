import { describe, expect, setDefaultTimeout, spyOn, test } from "bun:test";
import pino from "pino";
import { loadSettings } from "../../../src/config/index.ts";
import { SignInProvider } from "../../../src/console/server/entry/index.ts";
import { ScriptedProvider } from "./scripted-provider.ts";

setDefaultTimeout(60_000);

const page = "http://127.0.0.1:1/console/";
const { oidc } = loadSettings({ file: undefined, environment: {}, flags: {} });
const settingsOf = ({ issuer }: { readonly issuer: string }) => ({
  ...{ ...oidc, issuer, client_id: "client", rules: ["operator: email boss@example.org"] },
});

/** A server's side of sign-ins, with settings that a test may replace. */
class Stage {
  readonly provider: SignInProvider;
  settings: ReturnType<typeof settingsOf>;

  constructor(first: { readonly issuer: string }) {
    this.settings = settingsOf(first);
    this.provider = new SignInProvider(() => this.settings, pino({ level: "silent" }), Date.now);
  }

  /** Signs a person in whose ID token has the nonce of the sign-in. */
  async enter(scripted: ScriptedProvider) {
    const { location, cookie } = await this.provider.begin(page);
    const { searchParams } = new URL(location);
    scripted.idToken = { ...scripted.idToken, nonce: searchParams.get("nonce") };
    return await this.provider.finish(`?code=c&state=${searchParams.get("state")}`, cookie, "address");
  }
}

describe("the sign-in by a provider", () => {
  test("does not accept an ID token that another key has signed", async () => {
    await using scripted = new ScriptedProvider();
    scripted.idToken = { email: "boss@example.org", email_verified: true };
    const stage = new Stage(scripted);
    expect((await stage.enter(scripted)).grant).toMatchObject({ role: "operator" });
    scripted.isForged = true;
    await expect(stage.enter(scripted)).rejects.toThrow("not valid");
  });

  test("does not verify the address of the ID token by what userinfo says about another one", async () => {
    await using scripted = new ScriptedProvider();
    scripted.idToken = { email: "boss@example.org" };
    scripted.userinfo = { email: "mallory@evil.example", email_verified: true, groups: [] };
    expect(await new Stage(scripted).enter(scripted)).toMatchObject({
      claimed: { isEmailVerified: false },
      grant: null,
    });
  });

  test("sends a code to the provider to which it has sent the browser, and to no other", async () => {
    await using first = new ScriptedProvider();
    await using second = new ScriptedProvider();
    const read = Promise.withResolvers<void>();
    first.configurationAfter = read.promise;
    const stage = new Stage(first);
    const beginning = stage.provider.begin(page);
    stage.settings = settingsOf(second);
    read.resolve();
    const { location, cookie } = await beginning;
    expect(location).toStartWith(first.issuer);
    const state = new URL(location).searchParams.get("state");
    await expect(stage.provider.finish(`?code=secret&state=${state}`, cookie, "address")).rejects.toThrow("expired");
    expect([...first.codes, ...second.codes]).toEqual([]);
  });

  test("does not read the configuration again after an error that a browser brings", async () => {
    await using scripted = new ScriptedProvider();
    const stage = new Stage(scripted);
    for (let count = 0; count < 3; count++) {
      const { location, cookie } = await stage.provider.begin(page);
      const state = new URL(location).searchParams.get("state");
      const finishing = stage.provider.finish(`?error=invalid_client&state=${state}`, cookie, "address");
      await expect(finishing).rejects.toThrow("invalid_client");
    }
    expect(scripted.configurations).toBe(1);
  });

  test.each(["jwks_uri", "token_endpoint"])("does not use a %s without https", async (name) => {
    const issuer = "https://login.example.org";
    const metadata = {
      ...{ issuer, authorization_endpoint: `${issuer}/auth`, token_endpoint: `${issuer}/token` },
      ...{ jwks_uri: `${issuer}/keys`, [name]: "http://login.example.org/x" },
    };
    const fetched = Object.assign(async () => Response.json(metadata), { preconnect: fetch.preconnect });
    const answer = spyOn(globalThis, "fetch").mockImplementation(fetched);
    try {
      await expect(new Stage({ issuer }).provider.begin(page)).rejects.toThrow("not valid");
    } finally {
      answer.mockRestore();
    }
  });
});
