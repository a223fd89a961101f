import { listUsers, type User } from "../../../src/users/index.ts";
import { type Browser, ConsoleServer } from "../../support/console.ts";
import { type ProviderPerson, TestProvider } from "../../support/sign-in-provider.ts";

/** A console with the account `acme`, and a provider whose people sign in to it. */
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
    server.api.account("acme");
    const page = `${origin?.(server.origin) ?? server.origin}/console/`;
    const provider = await TestProvider.start({
      ...{ page, people, claimsInToken, hasOwnKey },
      ...(secret === undefined ? {} : { secret }),
    });
    const stage = new ProviderStage(server, provider, page);
    const scopes = [...server.settings.oidc.scopes, "groups"];
    stage.change({ issuer: provider.issuer, client_id: "transcribe", name: "Example", scopes, rules: [...rules] });
    return stage;
  }

  /** Changes settings of the provider, as a reload of the settings does. */
  change(changed: Partial<ConsoleServer["settings"]["oidc"]>): void {
    const { settings } = this.server;
    this.server.settings = { ...settings, oidc: { ...settings.oidc, ...changed } };
  }

  /** Returns the only user that is stored. */
  onlyUser(): User {
    const [user, ...others] = listUsers(this.server.api.store);
    if (user === undefined || others.length > 0) throw new Error("not exactly one user is stored");
    return user;
  }

  /** Begins a sign-in in a browser, which gets the cookie. @returns where the console sends the browser */
  async begin(browser: Browser): Promise<string> {
    const answer = await browser.send("POST", "/provider-sign-in", { page: this.page });
    const body: unknown = await answer.json();
    if (typeof body !== "object" || body === null || !("location" in body)) throw new Error(JSON.stringify(body));
    browser.cookie = (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    return String(body.location);
  }

  /** Begins a sign-in in which the provider identifies a person. @returns the query that it sends the browser back with */
  async identify(browser: Browser, person: string): Promise<string> {
    return this.provider.signIn(await this.begin(browser), person);
  }

  /** Signs a person in, in a new browser. @throws if the console refuses it */
  async enter(person: string): Promise<Browser> {
    const browser = this.server.stranger();
    await browser.enter({ provider_query: await this.identify(browser, person) });
    return browser;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server[Symbol.dispose]();
    await this.provider[Symbol.asyncDispose]();
  }
}
