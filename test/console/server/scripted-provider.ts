import { exportJWK, generateKeyPair, SignJWT } from "jose";

const { privateKey, publicKey } = await generateKeyPair("RS256", { extractable: true });
const forged = await generateKeyPair("RS256");

/** An OpenID Connect provider that answers as a test says, also wrongly. */
export class ScriptedProvider implements AsyncDisposable {
  readonly issuer: string;
  /** A promise that its configuration awaits. */
  configurationAfter: Promise<unknown> = Promise.resolve();
  /** Number of times that its configuration was read. */
  configurations = 0;
  /** Codes that it was sent. */
  readonly codes: (string | null)[] = [];
  idToken: Readonly<Record<string, unknown>> = {};
  userinfo: Readonly<Record<string, unknown>> = {};
  isForged = false;
  readonly #server: Bun.Server<undefined>;

  constructor() {
    this.#server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request) => this.#answer(request) });
    this.issuer = `http://127.0.0.1:${this.#server.port}`;
  }

  async #answer(request: Request): Promise<Response> {
    const { issuer } = this;
    switch (new URL(request.url).pathname) {
      case "/.well-known/openid-configuration":
        this.configurations += 1;
        await this.configurationAfter;
        return Response.json({
          issuer,
          authorization_endpoint: `${issuer}/auth`,
          token_endpoint: `${issuer}/token`,
          userinfo_endpoint: `${issuer}/me`,
          jwks_uri: `${issuer}/keys`,
          id_token_signing_alg_values_supported: ["RS256"],
        });
      case "/keys":
        return Response.json({ keys: [{ ...(await exportJWK(publicKey)), kid: "key", alg: "RS256" }] });
      case "/token": {
        this.codes.push(new URLSearchParams(await request.text()).get("code"));
        const now = Math.floor(Date.now() / 1000);
        const idToken = await new SignJWT({
          iss: issuer,
          aud: "client",
          sub: "1",
          iat: now,
          exp: now + 60,
          ...this.idToken,
        })
          .setProtectedHeader({ alg: "RS256", kid: "key" })
          .sign(this.isForged ? forged.privateKey : privateKey);
        return Response.json({ access_token: "access", token_type: "bearer", id_token: idToken });
      }
      case "/me":
        return Response.json({ sub: "1", ...this.userinfo });
      default:
        return new Response("not found", { status: 404 });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true);
  }
}
