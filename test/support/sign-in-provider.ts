import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import Provider from "oidc-provider";

/** A person at the provider, by the name that is typed in at its sign-in form. */
export interface ProviderPerson {
  readonly name?: string;
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly groups?: readonly string[];
  /** End of the sessions, in seconds since the epoch. */
  readonly session_expiry?: number;
}

interface ProviderOptions {
  /** Address of the console's page, `…/console/`. */
  readonly page: string;
  readonly people: Readonly<Record<string, ProviderPerson>>;
  /** Whether the ID token has all claims; otherwise the userinfo endpoint has them. */
  readonly claimsInToken?: boolean;
  /** The client's secret, and the only way in which the provider accepts it. */
  readonly secret?: { readonly text: string; readonly way: "client_secret_post" | "client_secret_basic" };
  /** Whether the provider signs with a key of its own. Otherwise it has the key that all providers of a process share. */
  readonly hasOwnKey?: boolean;
}

const CLIENT_ID = "transcribe";
const logoutEvent = "http://schemas.openid.net/event/backchannel-logout";

/** The key that providers share, because an RSA key takes a large part of a second to generate. */
let sharedKey: Promise<CryptoKey> | undefined;

async function newPrivateKey(): Promise<CryptoKey> {
  return (await generateKeyPair("RS256", { extractable: true })).privateKey;
}

/** A real OpenID Connect provider on this machine, with a sign-in form that accepts every password. */
export class TestProvider implements AsyncDisposable {
  readonly issuer: string;
  /** Maximum number of requests so far that were answered at the same time. */
  mostAtOnce = 0;
  /** A promise that the token endpoint awaits before it answers. */
  tokensAfter: Promise<unknown> = Promise.resolve();
  readonly #server: Server;
  readonly #key: CryptoKey;

  private constructor(server: Server, issuer: string, key: CryptoKey) {
    this.#server = server;
    this.issuer = issuer;
    this.#key = key;
  }

  static async start({
    page,
    people,
    claimsInToken = false,
    secret,
    hasOwnKey = false,
  }: ProviderOptions): Promise<TestProvider> {
    sharedKey ??= newPrivateKey();
    const privateKey = await (hasOwnKey ? newPrivateKey() : sharedKey);
    const key = { ...(await exportJWK(privateKey)), kid: "test", alg: "RS256", use: "sig" };
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("the provider has no port");
    const issuer = `http://127.0.0.1:${address.port}`;
    const provider = new Provider(issuer, {
      clients: [
        {
          client_id: CLIENT_ID,
          ...(secret === undefined
            ? { token_endpoint_auth_method: "none" }
            : { token_endpoint_auth_method: secret.way, client_secret: secret.text }),
          redirect_uris: [page],
          post_logout_redirect_uris: [page],
          backchannel_logout_uri: `${page}back-channel-logout`,
          backchannel_logout_session_required: true,
        },
      ],
      jwks: { keys: [key] },
      cookies: { keys: ["test"] },
      claims: {
        openid: ["sub", "sid"],
        email: ["email", "email_verified"],
        profile: ["name", "session_expiry"],
        groups: ["groups"],
      },
      scopes: ["openid", "email", "profile", "groups"],
      conformIdTokenClaims: !claimsInToken,
      features: {
        devInteractions: { enabled: true },
        backchannelLogout: { enabled: true },
        rpInitiatedLogout: { enabled: true },
      },
      findAccount: (_context, id) => ({
        accountId: id,
        claims: () => ({ sub: id, ...people[id], groups: [...(people[id]?.groups ?? [])] }),
      }),
      // Nobody is asked for consent.
      async loadExistingGrant({ oidc }) {
        const grant = new oidc.provider.Grant({ clientId: CLIENT_ID, accountId: oidc.session?.accountId ?? "" });
        grant.addOIDCScope("openid email profile groups");
        await grant.save();
        return grant;
      },
    });
    const started = new TestProvider(server, issuer, privateKey);
    let now = 0;
    server.on("request", (_request, response) => {
      now += 1;
      started.mostAtOnce = Math.max(started.mostAtOnce, now);
      response.on("close", () => {
        now -= 1;
      });
    });
    const answer = provider.callback();
    server.on("request", async (request, response) => {
      if (request.url?.startsWith("/token") === true) await started.tokensAfter;
      await answer(request, response);
    });
    return started;
  }

  /** Signs a token with the key of the provider. */
  sign(claims: Readonly<Record<string, unknown>>, header: { typ?: string; alg?: string } = {}): Promise<string> {
    return new SignJWT({ iss: this.issuer, aud: CLIENT_ID, iat: Math.floor(Date.now() / 1000), ...claims })
      .setProtectedHeader({ alg: "RS256", kid: "test", typ: "logout+jwt", ...header })
      .sign(this.#key);
  }

  /** Returns a valid logout token; `claims` replace its own. */
  logoutToken(claims: Readonly<Record<string, unknown>>): Promise<string> {
    return this.sign({ jti: crypto.randomUUID(), events: { [logoutEvent]: {} }, ...claims });
  }

  /**
   * Signs a person in at the provider, as a browser without a script does.
   * @param location where the console has sent the browser
   * @returns the query with which the provider sends the browser back
   */
  async signIn(location: string, person: string): Promise<string> {
    const cookies = new Map<string, string>();
    let address = new URL(location);
    let body: URLSearchParams | null = null;
    for (let requests = 0; requests < 10; requests++) {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
      const method = body === null ? "GET" : "POST";
      const answer: Response = await fetch(address, { method, body, redirect: "manual", headers: { cookie } });
      for (const line of answer.headers.getSetCookie()) {
        const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        cookies.set(name, value);
      }
      const next = answer.headers.get("location");
      body = null;
      if (next === null) {
        if (!address.pathname.startsWith("/interaction/")) throw new Error(`${answer.status}: ${await answer.text()}`);
        body = new URLSearchParams({ prompt: "login", login: person, password: "any" });
        continue;
      }
      address = new URL(next, address);
      if (address.origin !== this.issuer) return address.search;
    }
    throw new Error("the provider does not finish");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}
