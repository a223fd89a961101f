import { createRemoteJWKSet } from "jose";
import * as client from "openid-client";
import { SecretFileError } from "../../../config/index.ts";
import { codeOf } from "../../../text/index.ts";
import { type ProviderSettings, readClientSecret } from "./provider-settings.ts";
import { SecretAuthentication } from "./secret-authentication.ts";

/** Maximum time of one request to the provider. */
const REQUEST_SECONDS = 10;
/** How long the provider's configuration is used before it is read again. */
const CONFIGURATION_MILLISECONDS = 3_600_000;
/** Difference between the clocks of this machine and the provider that is tolerated. */
export const CLOCK_TOLERANCE_SECONDS = 60;

/** The provider, as its configuration describes it. */
export interface Connected {
  readonly configuration: client.Configuration;
  readonly keys: ReturnType<typeof createRemoteJWKSet> | null;
  /** Null for a client without a secret. */
  readonly authentication: SecretAuthentication | null;
}

/** An address of the provider's configuration to which secrets and keys would travel in the clear. */
export class InsecureEndpointError extends Error {
  override readonly name = "InsecureEndpointError";
}

/** What may be logged of a failed conversation with the provider: neither its answer nor a token. */
export interface ProviderFault {
  readonly name: string;
  /** Code of the error, or the provider's own; for a client's secret that can't be read, the fault. */
  readonly reason: string;
  /** HTTP status of an answer that was not expected. */
  readonly status?: number;
}

export function providerFault(error: unknown): ProviderFault {
  if (error instanceof SecretFileError) return { name: error.name, reason: error.message };
  const reason = refusalBy(error) ?? codeOf(error);
  const { cause } = error instanceof Error ? error : {};
  const response = error instanceof client.WWWAuthenticateChallengeError ? error.response : cause;
  const status = response instanceof Response ? response.status : undefined;
  return { name: error instanceof Error ? error.name : "", reason, ...(status === undefined ? {} : { status }) };
}

/** Returns the code with which the provider itself has refused a request; null if it has not. */
export function refusalBy(error: unknown): string | null {
  const code = refusalCodeOf(error);
  return code === null || /^[a-z_]{1,40}$/.test(code) ? code : codeOf(error);
}

function refusalCodeOf(error: unknown): string | null {
  // The token endpoint answers with the first one, the browser brings the second one.
  if (error instanceof client.ResponseBodyError || error instanceof client.AuthorizationResponseError)
    return error.error;
  if (!(error instanceof client.WWWAuthenticateChallengeError)) return null;
  const [challenge] = error.cause;
  // RFC 6749, 5.2: the challenge to a client that authenticates by a header. One to a token has its own code.
  return challenge?.parameters.error ?? (challenge?.scheme === "basic" ? "invalid_client" : "");
}

/** Returns whether an error's code means that a response or a token is not valid. Others may pass, such as a timeout. */
export function isInvalidAnswer(reason: string): boolean {
  return /^(?:OAUTH_|ERR_J)/.test(reason) && !reason.endsWith("_TIMEOUT") && reason !== "ERR_JOSE_GENERIC";
}

/** The connection to the provider. Its configuration is read at the first need, after a change and every hour. */
export class ProviderConnection {
  readonly #now: () => number;
  /** The connection that is used or being made, and the settings that it is made of. */
  #current: { readonly made: string; readonly staleAt: number; readonly connected: Promise<Connected> } | null = null;

  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Returns the provider of the settings. Of several requests at once, the first one reads the configuration for all.
   * @throws {SecretFileError}
   */
  connect(settings: ProviderSettings): Promise<Connected> {
    const { issuer, client_id, client_secret_file } = settings;
    const secret = readClientSecret(client_secret_file);
    const made = JSON.stringify([issuer, client_id, secret]);
    if (this.#current?.made === made && this.#current.staleAt > this.#now()) return this.#current.connected;
    const connected = discover(settings, secret);
    const current = { made, staleAt: this.#now() + CONFIGURATION_MILLISECONDS, connected };
    this.#current = current;
    connected.catch(() => {
      if (this.#current === current) this.#current = null;
    });
    return connected;
  }
}

/** Reads the provider's configuration, as a sign-in would. Returns null if that succeeds. */
export async function probeProvider(settings: ProviderSettings): Promise<ProviderFault | null> {
  try {
    await new ProviderConnection(Date.now).connect(settings);
    return null;
  } catch (error) {
    return providerFault(error);
  }
}

async function discover({ issuer, client_id }: ProviderSettings, secret: string | null): Promise<Connected> {
  const url = new URL(issuer);
  // checkIssuer allows plain HTTP on this machine alone.
  const isLocal = url.protocol === "http:";
  const authentication = secret === null ? null : new SecretAuthentication(secret);
  const configuration = await client.discovery(
    url,
    client_id,
    { [client.clockTolerance]: CLOCK_TOLERANCE_SECONDS },
    authentication?.authenticate ?? client.None(),
    {
      timeout: REQUEST_SECONDS,
      execute: [client.enableNonRepudiationChecks, ...(isLocal ? [client.allowInsecureRequests] : [])],
    },
  );
  const { jwks_uri, token_endpoint, userinfo_endpoint } = configuration.serverMetadata();
  for (const address of [jwks_uri, token_endpoint, userinfo_endpoint]) {
    if (isLocal || address === undefined || URL.parse(address)?.protocol === "https:") continue;
    throw new InsecureEndpointError("an address of the provider has no https");
  }
  const keys =
    jwks_uri === undefined ? null : createRemoteJWKSet(new URL(jwks_uri), { timeoutDuration: REQUEST_SECONDS * 1000 });
  return { configuration, keys, authentication };
}
