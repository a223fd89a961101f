import * as client from "openid-client";

type Way = "client_secret_post" | "client_secret_basic";

/** The ways, in the order of the attempts. */
const ways: readonly Way[] = ["client_secret_post", "client_secret_basic"];

/**
 * Sends the client's secret to the provider. A provider that supports two ways may accept only one of them for this
 * client, and its configuration does not say which. The way that was accepted last is used first.
 */
export class SecretAuthentication {
  readonly #secret: string;
  /** The ways that the provider supports, as its configuration says. */
  #supported: readonly Way[] = ways;
  #preferred: Way | null = null;

  constructor(secret: string) {
    this.#secret = secret;
  }

  /** Adds the secret to a request. */
  readonly authenticate: client.ClientAuth = (server, { client_id }, body, headers) => {
    const supported = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    this.#supported = ways.filter((way) => supported.includes(way));
    if ((this.#preferred ?? this.#supported[0]) === "client_secret_post") {
      body.set("client_id", client_id);
      body.set("client_secret", this.#secret);
    } else headers.set("authorization", basicAuthorization(client_id, this.#secret));
  };

  /** Sends a request, and once more in the other way if the provider does not accept the secret. */
  async request<T>(send: () => Promise<T>): Promise<T> {
    const before = this.#preferred;
    try {
      return await send();
    } catch (error) {
      const used = before ?? this.#supported[0];
      const other = this.#supported.find((way) => way !== used);
      if (!isUnknownClient(error) || other === undefined) throw error;
      // Another sign-in may have found the way meanwhile.
      if (this.#preferred === before) this.#preferred = other;
      return await send();
    }
  }
}

function isUnknownClient(error: unknown): boolean {
  if (error instanceof client.WWWAuthenticateChallengeError) return error.status === 401;
  return error instanceof client.ResponseBodyError && /^(?:invalid|unauthorized)_client$/.test(error.error);
}

/**
 * Returns the header of RFC 6749, 2.3.1. Only characters that need it are encoded, because some providers do not decode
 * the secret.
 */
function basicAuthorization(id: string, secret: string): string {
  return `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString("base64")}`;
}
