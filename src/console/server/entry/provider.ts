import * as client from "openid-client";
import { SlidingWindow } from "../../../http/index.ts";
import type { Logger } from "../../../telemetry/index.ts";
import { type ClaimedUser, grantOf, parseSignInRules } from "../../../users/index.ts";
import { ConsoleError } from "../errors.ts";
import { BegunSignIns, SIGN_IN_MILLISECONDS } from "./begun-sign-ins.ts";
import { claimedUserOf, hasTooManyGroups, isComplete, mergeClaims, sessionEndOf } from "./claims.ts";
import { type LogoutNotice, readLogoutToken } from "./logout-token.ts";
import {
  CLOCK_TOLERANCE_SECONDS,
  type Connected,
  InsecureEndpointError,
  isInvalidAnswer,
  ProviderConnection,
  providerFault,
  refusalBy,
} from "./provider-connection.ts";
import { type ProviderSettings, providerName } from "./provider-settings.ts";
import { ReportedLogouts } from "./reported-logouts.ts";

/**
 * Maximum number of sign-ins that ask the provider at the same time, of logouts that are checked, and of sign-ins from one
 * address. Strangers can begin sign-ins, and must not make this server flood the provider, nor lose its logouts.
 */
const MAX_AT_ONCE = { signIns: 20, logouts: 20, signInsOfAddress: 5 };
/** Sign-ins that the provider may refuse for one address in 15 minutes. Many people may share an address. */
const REFUSALS = { limit: 30, windowMilliseconds: 15 * 60_000 };
/** Time after which a sign-in or a logout is sent again if the server is busy, or the provider can't be reached. */
const RETRY_MILLISECONDS = 5000;

/** A person whom the provider has identified. */
interface ProviderSignIn {
  readonly claimed: ClaimedUser;
  /** Role and accounts that the rules give the person; null if no rule matches. */
  readonly grant: ReturnType<typeof grantOf>;
  /** The reason for the person if no rule matches. */
  readonly refusal: string;
  /** Id of the session at the provider, by which a logout names it; null if the provider has none. */
  readonly providerSession: string | null;
  /** Milliseconds since the epoch. */
  readonly beganAt: number;
  /** End of the session as the provider states it, in milliseconds since the epoch; null if it states none. */
  readonly endsAt: number | null;
}

/**
 * Signs people in by an OpenID Connect provider: authorization code with PKCE, state and nonce. A call uses the settings
 * of its beginning, which a reload may replace meanwhile.
 */
export class SignInProvider {
  readonly #settings: () => ProviderSettings;
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #begun: BegunSignIns;
  readonly #connection: ProviderConnection;
  readonly #reported = new ReportedLogouts();
  readonly #refusals = new SlidingWindow(REFUSALS.windowMilliseconds);
  /** Numbers of conversations in progress. */
  readonly #atOnce = { signIns: 0, logouts: 0, ofAddress: new Map<string, number>() };

  constructor(settings: () => ProviderSettings, log: Logger, now: () => number) {
    this.#settings = settings;
    this.#log = log;
    this.#now = now;
    this.#begun = new BegunSignIns(now);
    this.#connection = new ProviderConnection(now);
  }

  /** Name of the provider for people; null if the settings have none. */
  get name(): string | null {
    return providerName(this.#settings());
  }

  /**
   * Begins a sign-in.
   * @param redirectUri address of the page, to which the provider returns
   * @returns the provider's address for the browser, and the value of the cookie with which the sign-in is finished
   * @throws {ConsoleError} if there is no provider or it can't be reached
   */
  async begin(redirectUri: string): Promise<{ location: string; cookie: string; milliseconds: number }> {
    const settings = this.#settings();
    const { configuration } = await this.#connect(settings);
    const begun = {
      state: client.randomState(),
      nonce: client.randomNonce(),
      verifier: client.randomPKCECodeVerifier(),
      redirectUri,
      issuer: settings.issuer,
      beganAt: this.#now(),
    };
    const location = client.buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: [...new Set(["openid", ...settings.scopes])].join(" "),
      state: begun.state,
      nonce: begun.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(begun.verifier),
      code_challenge_method: "S256",
    });
    return { location: location.href, cookie: await this.#begun.seal(begun), milliseconds: SIGN_IN_MILLISECONDS };
  }

  /**
   * Finishes a sign-in.
   * @param query the query with which the provider sent the browser back
   * @param cookie value of the cookie of `begin`; null if the browser has none
   * @param address the browser's address, or the network that counts as one
   * @throws {ConsoleError} with the reason, if the provider did not identify the person
   */
  async finish(query: string, cookie: string | null, address: string): Promise<ProviderSignIn> {
    const settings = this.#settings();
    const begun = cookie === null ? null : await this.#begun.open(cookie);
    if (begun === null || begun.issuer !== settings.issuer) throw expired();
    const { configuration, authentication } = await this.#connect(settings);
    const returned = new URL(begun.redirectUri);
    returned.search = query;
    const claims = await this.#signingIn(address, () => {
      // A link with another state, which is refused below, does not use the sign-in up.
      if (returned.searchParams.get("state") === begun.state && !this.#begun.use(begun)) throw expired();
      return this.#asking(settings, async () => {
        const redeem = () =>
          client.authorizationCodeGrant(configuration, returned, {
            pkceCodeVerifier: begun.verifier,
            expectedState: begun.state,
            expectedNonce: begun.nonce,
            idTokenExpected: true,
          });
        const tokens = await (authentication?.request(redeem) ?? redeem());
        return await completed(configuration, settings, tokens.access_token, { ...tokens.claims() });
      });
    });
    return this.#identified(settings, claims, begun.beganAt);
  }

  /** Returns whether the provider has ended the session of a sign-in meanwhile. */
  isLoggedOut({ claimed: { issuer, subject }, providerSession, beganAt }: ProviderSignIn): boolean {
    return this.#reported.cover({ issuer, subject, providerSession, beganAt });
  }

  /**
   * Returns the address at which a person also signs out of the provider; null if the provider has none.
   * @param returnTo address of the page, to which the provider returns
   */
  async signOutAddress(returnTo: string): Promise<string | null> {
    try {
      const { configuration } = await this.#connect(this.#settings());
      if (configuration.serverMetadata().end_session_endpoint === undefined) return null;
      return client.buildEndSessionUrl(configuration, { post_logout_redirect_uri: returnTo }).href;
    } catch (error) {
      // The person is signed out here in any case.
      if (error instanceof ConsoleError) return null;
      throw error;
    }
  }

  /**
   * Checks a logout token that the provider has sent, see readLogoutToken.
   * @throws {ConsoleError} if there is no provider, it can't be reached or the token is not valid
   */
  async logoutNotice(token: string): Promise<LogoutNotice> {
    const settings = this.#settings();
    const { configuration, keys } = await this.#connect(settings).catch((error: unknown) => {
      // Nothing is known about the token, so the provider should send it again.
      throw settings.issuer === "" ? error : unavailable("The provider's configuration can't be read now.");
    });
    if (keys === null) throw failed("The provider publishes no keys.");
    const { issuer, id_token_signing_alg_values_supported: algorithms = ["RS256"] } = configuration.serverMetadata();
    if (this.#atOnce.logouts >= MAX_AT_ONCE.logouts) throw unavailable("Too many logouts arrive now; try again.");
    this.#atOnce.logouts += 1;
    try {
      const notice = await this.#asking(settings, () =>
        readLogoutToken(token, {
          keys,
          issuer,
          audience: settings.client_id,
          algorithms,
          toleranceSeconds: CLOCK_TOLERANCE_SECONDS,
          now: this.#now(),
        }),
      );
      this.#reported.add(notice, this.#now());
      return notice;
    } finally {
      this.#atOnce.logouts -= 1;
    }
  }

  /** Returns the person whom checked claims identify, with what the rules give. */
  #identified(settings: ProviderSettings, claims: Readonly<Record<string, unknown>>, beganAt: number): ProviderSignIn {
    const { groups_claim: groupsClaim, rules } = settings;
    const claimed = claimedUserOf(claims, groupsClaim);
    const provider = providerName(settings);
    if (claimed === null) {
      this.#log.warn({ event: "console.sign_in_refused", reason: "bad_subject" });
      throw failed(
        `${provider} identifies you by a text that is longer than 255 characters or has invalid ones, so you can't sign in. Ask the operator of this server.`,
      );
    }
    const endsAt = sessionEndOf(claims);
    if (endsAt !== null && endsAt <= this.#now()) {
      this.#log.warn({ event: "console.sign_in_refused", reason: "session_expired" });
      throw failed(`Your session at ${provider} has ended. Sign in again.`);
    }
    const grant = grantOf(parseSignInRules(rules), claimed);
    const hasTooMany = hasTooManyGroups(claims, groupsClaim);
    // Names of groups and people are at the level debug alone.
    const arrived = { groups: claimed.groups.length, verifiedEmail: claimed.isEmailVerified };
    if (grant !== null) this.#log.info({ event: "console.sign_in_granted", role: grant.role, ...arrived });
    else {
      const reason = hasTooMany ? "too_many_groups" : "no_rule";
      this.#log.warn({ event: "console.sign_in_refused", reason, ...arrived });
      this.#log.debug({ event: "console.sign_in_claims", groups: claimed.groups, domain: claimed.domain });
    }
    const { sid } = claims;
    return {
      claimed,
      grant,
      refusal: hasTooMany
        ? `You are in more groups than ${provider} sends. Ask the operator of this server to limit them.`
        : `${provider} knows you, but this server gives you no access. Ask its operator.`,
      providerSession: typeof sid === "string" && sid !== "" ? sid : null,
      beganAt,
      endsAt,
    };
  }

  #connect(settings: ProviderSettings): Promise<Connected> {
    if (settings.issuer === "") throw failed("This server has no sign-in provider.");
    return this.#asking(settings, () => this.#connection.connect(settings));
  }

  /** Runs the conversation of a sign-in with the provider, within the limits of all sign-ins and of its address. */
  async #signingIn<T>(address: string, conversation: () => Promise<T>): Promise<T> {
    const { ofAddress } = this.#atOnce;
    const refusals = this.#refusals.state(address, REFUSALS.limit, this.#now());
    if (refusals.remaining === 0) throw tooMany(refusals.retryMilliseconds);
    const ofThisAddress = ofAddress.get(address) ?? 0;
    if (ofThisAddress >= MAX_AT_ONCE.signInsOfAddress) throw tooMany(RETRY_MILLISECONDS);
    if (this.#atOnce.signIns >= MAX_AT_ONCE.signIns) throw unavailable("Too many people sign in now; try again.");
    this.#atOnce.signIns += 1;
    ofAddress.set(address, ofThisAddress + 1);
    try {
      return await conversation();
    } catch (error) {
      const isRefusal = error instanceof ConsoleError && error.code === "sign_in_failed";
      if (isRefusal) this.#refusals.spend(address, REFUSALS.limit, this.#now());
      throw error;
    } finally {
      this.#atOnce.signIns -= 1;
      const others = (ofAddress.get(address) ?? 1) - 1;
      if (others === 0) ofAddress.delete(address);
      else ofAddress.set(address, others);
    }
  }

  /** Runs a conversation with the provider, and converts its errors. They may contain tokens, so only codes are logged. */
  async #asking<T>(settings: ProviderSettings, conversation: () => Promise<T>): Promise<T> {
    try {
      return await conversation();
    } catch (error) {
      if (error instanceof ConsoleError) throw error;
      const provider = providerName(settings);
      const fault = providerFault(error);
      const { reason } = fault;
      this.#log.warn({ event: "console.provider_failed", issuer: settings.issuer, ...fault });
      if (refusalBy(error) !== null) throw failed(`${provider} has refused the sign-in (${reason}). Sign in again.`);
      if (error instanceof InsecureEndpointError || isInvalidAnswer(reason)) {
        throw failed(`The response of ${provider} is not valid, so nobody was signed in. Sign in again.`);
      }
      throw unavailable(`${provider} can't be reached now. Sign in again later, or in another way.`);
    }
  }
}

/** Adds the claims of the userinfo endpoint if the ID token lacks the address or the groups. */
async function completed(
  configuration: client.Configuration,
  { groups_claim: groupsClaim }: ProviderSettings,
  accessToken: string,
  claims: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> {
  const { userinfo_endpoint: endpoint } = configuration.serverMetadata();
  if (endpoint === undefined || isComplete(claims, groupsClaim) || typeof claims.sub !== "string") return claims;
  return mergeClaims(claims, await client.fetchUserInfo(configuration, accessToken, claims.sub));
}

function failed(message: string): ConsoleError {
  return new ConsoleError("sign_in_failed", message);
}

function expired(): ConsoleError {
  return failed("This sign-in has expired, or began in another browser. Sign in again.");
}

function unavailable(message: string): ConsoleError {
  return new ConsoleError("service_unavailable", message, { retryMilliseconds: RETRY_MILLISECONDS });
}

function tooMany(retryMilliseconds: number): ConsoleError {
  const message = "Too many sign-ins from this address; wait, or sign in in another way.";
  return new ConsoleError("too_many_attempts", message, { retryMilliseconds });
}
