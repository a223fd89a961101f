import { Elysia } from "elysia";
import { findClaimedUser } from "../../../users/index.ts";
import type { Sessions, SignInProvider } from "../entry/index.ts";
import { ConsoleError } from "../errors.ts";
import { readText } from "../read-body.ts";
import type { ConsoleServices } from "../services.ts";

/**
 * Creates the route by which the sign-in provider ends sessions (OpenID Connect Back-Channel Logout 1.0). The provider
 * itself calls it, without a browser: no cookie and no origin, but a signed token.
 * @param path URL path of the console
 */
export function logoutRoutes(
  path: string,
  { store, log }: ConsoleServices,
  sessions: Sessions,
  provider: SignInProvider,
) {
  return new Elysia({ name: "console-logout", prefix: path }).post(
    "/back-channel-logout",
    async ({ request }) => {
      const token = new URLSearchParams(await readText(request)).get("logout_token");
      if (token === null) throw new ConsoleError("bad_request", "The request has no logout_token.");
      const { issuer, subject, providerSession } = await provider.logoutNotice(token).catch(refuse);
      const user = subject === null ? null : findClaimedUser(store, issuer, subject);
      // A token with an unknown subject means nobody; one without a subject means whoever has the session.
      const users = subject === null ? null : user === null ? [] : [user.id];
      const ended = sessions.endOfProvider(providerSession, users);
      log.info({ event: "console.provider_logout", sessions: ended });
      return new Response(null, { status: 200 });
    },
    { parse: "none" },
  );
}

/**
 * Answers every fault of a token with 400, as the specification demands (2.8). A busy server, or a provider whose keys
 * can't be read, is none: the provider may send the token again.
 */
function refuse(error: unknown): never {
  if (error instanceof ConsoleError && error.code !== "service_unavailable")
    throw new ConsoleError("bad_request", error.message);
  throw error;
}
