import { type ProviderPerson, TestProvider } from "../../../harness/sign-in-provider.ts";
import { type Browser, ConsoleServer } from "./support.ts";

/** A console and a provider whose people sign in to it. */
export class ProviderStage implements AsyncDisposable {
  readonly server: ConsoleServer;
  readonly provider: TestProvider;
  /** Address of the console's page. */
  readonly page: string;

  private constructor(server: ConsoleServer, provider: TestProvider, page: string) {
    this.server = server;
    this.provider = provider;
    this.page = page;
  }

  /** @param origin address under which browsers reach the server, if it is behind a proxy */
  static async open(
    people: Readonly<Record<string, ProviderPerson>>,
    rules: readonly string[],
    {
      claimsInToken = false,
      secret,
      hasOwnKey = false,
      origin,
      trustedProxies = [],
    }: Pick<Parameters<typeof TestProvider.start>[0], "claimsInToken" | "secret" | "hasOwnKey"> & {
      readonly origin?: (own: string) => string;
      readonly trustedProxies?: readonly string[];
    } = {},
  ): Promise<ProviderStage> {
    const server = new ConsoleServer({ trustedProxies });
    const page = `${origin?.(server.origin) ?? server.origin}/console/`;
    const provider = await TestProvider.start({
      ...{ page, people, claimsInToken, hasOwnKey },
      ...(secret === undefined ? {} : { secret }),
    });
    const { oidc } = server.settings;
    const scopes = [...oidc.scopes, "groups"];
    server.settings = {
      ...server.settings,
      oidc: { ...oidc, issuer: provider.issuer, client_id: "transcribe", name: "Example", scopes, rules: [...rules] },
    };
    return new ProviderStage(server, provider, page);
  }

  /** Replaces the rules, as a reload of the settings does. */
  setRules(...rules: readonly string[]): void {
    const { settings } = this.server;
    this.server.settings = { ...settings, oidc: { ...settings.oidc, rules: [...rules] } };
  }

  /** Begins a sign-in in a browser, which gets the cookie. @returns where the console sends the browser */
  async begin(browser: Browser): Promise<string> {
    const answer = await browser.send("POST", "/provider-sign-in", { page: this.page });
    const body: unknown = await answer.json();
    if (typeof body !== "object" || body === null || !("location" in body)) throw new Error(JSON.stringify(body));
    browser.cookie = (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    return String(body.location);
  }

  /** Signs a person in, in a new browser. @throws if the console refuses it */
  async enter(person: string): Promise<Browser> {
    const browser = this.server.stranger();
    await browser.enter({ provider_query: await this.provider.signIn(await this.begin(browser), person) });
    return browser;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server[Symbol.dispose]();
    await this.provider[Symbol.asyncDispose]();
  }
}
