import { ExportQueue } from "../../exports/index.ts";
import { type ApiError, contextOf, createRouter, toApiError } from "../../http/index.ts";
import { LibraryError } from "../../library/index.ts";
import { CorrectionError } from "../../transcripts/index.ts";
import { Voices, VoicesError } from "../../voices/index.ts";
import { accessOf, createDataRoutes } from "./data-routes.ts";
import { rulesMark, Sessions, SignInProvider } from "./entry/index.ts";
import { apiErrorAsResponse, ConsoleError, refusalToConsoleError, voiceRefusalToConsoleError } from "./errors.ts";
import { LiveSockets } from "./live-sockets.ts";
import { readOverview } from "./overview.ts";
import { OverviewFeed } from "./overview-feed.ts";
import { RecordingFacts } from "./recording-facts.ts";
import { admit, sessionOf } from "./request-session.ts";
import { accountHandlers } from "./routes/accounts.ts";
import { correctionHandlers } from "./routes/corrections.ts";
import { liveHandlers } from "./routes/live.ts";
import { logoutRoutes } from "./routes/logout.ts";
import { pageRoutes } from "./routes/page.ts";
import { playbackHandlers } from "./routes/playback.ts";
import { processingHandlers } from "./routes/processing.ts";
import { recordingHandlers } from "./routes/recordings.ts";
import { replacementHandlers } from "./routes/replacements.ts";
import { sessionHandlers } from "./routes/session.ts";
import { transcriptHandlers } from "./routes/transcript.ts";
import { voiceHandlers } from "./routes/voices.ts";
import { webhookHandlers } from "./routes/webhooks.ts";
import type { ConsoleServices } from "./services.ts";

/** URL path of the console. */
export const consolePath = "/console";
const dataPath = `${consolePath}/data`;

/** Interval between searches for recordings whose playback copy could not be made when they ended. */
const CATCH_UP_MILLISECONDS = 300_000;

/** Returns whether a path belongs to the console. */
export function isConsolePath(path: string): boolean {
  return path === consolePath || path.startsWith(`${consolePath}/`);
}

/** The console of a server. */
export interface Console {
  /** Its routes, `GET /path`. */
  readonly routes: readonly string[];
  handle(request: Request): Promise<Response>;
  /** Ends the responses that are still being sent, and stops the background work. */
  close(): Promise<void>;
}

/** Creates the console: the page and its data routes. Every response gets the console's security headers. */
export function createConsole(services: ConsoleServices): Console {
  const { store, settings, log, now } = services;
  const sessionRules = () => {
    const { console, oidc } = settings();
    return { operatorPassword: console.operator_password, providerRules: oidc.issuer === "" ? null : rulesMark(oidc) };
  };
  const sessions = new Sessions(store, sessionRules, now);
  const provider = new SignInProvider(() => settings().oidc, log, now);
  const feed = new OverviewFeed(services, sessions);
  const live = new LiveSockets({ sessions: services.live, log, now });
  const voices = new Voices(services.store);
  const facts = new RecordingFacts(services, voices);
  // Each search of a whole transcript has some megabytes in memory.
  const searches = new ExportQueue(2);
  const { playback, events, searchIndexer } = services;
  const subscriptions = [events.onEnded("playback copies", ({ id }) => playback.enqueue(id))];
  const catchUp = () => {
    // A folder that cannot be read now is read at the next interval.
    playback.enqueueMissing().catch((error) => log.warn({ event: "console.catch_up_failed", err: error }));
  };
  const catchUpTimer = setInterval(catchUp, CATCH_UP_MILLISECONDS);
  catchUp();
  const dataRoutes = createDataRoutes(dataPath, store, {
    ...sessionHandlers(services, sessions, provider),
    overview: () => readOverview(services),
    overviewEvents: ({ request }) => feed.open(sessionOf(request)),
    ...recordingHandlers(services, facts, () => searchIndexer.isBusy),
    ...playbackHandlers(services),
    ...processingHandlers(services, facts),
    ...transcriptHandlers(services, facts, voices, searches),
    ...correctionHandlers(services, searches, (id) => searchIndexer.add(id)),
    ...voiceHandlers(services, facts, voices),
    ...accountHandlers(services, voices),
    ...webhookHandlers(services),
    ...replacementHandlers(services),
    ...liveHandlers(services, live, (error, request) => refuse(services, error, "UNKNOWN", request)),
  });
  const app = createRouter({
    secure: services.secure,
    routes: [pageRoutes(consolePath), logoutRoutes(consolePath, services, sessions, provider), dataRoutes],
    check: (request, path) => {
      if (!path.startsWith(dataPath)) return;
      requireSameOrigin(request, contextOf(request).origin);
      admit(request, sessions, accessOf(request.method, path.slice(dataPath.length)));
    },
    onError: (error, code, request) => refuse(services, error, code, request),
  });
  return {
    routes: app.routes,
    handle: async (request) => withConsoleHeaders(await app.handle(request)),
    async close() {
      clearInterval(catchUpTimer);
      for (const unsubscribe of subscriptions) unsubscribe();
      feed.close();
      live.close();
      await playback.stop();
    },
  };
}

/** Returns the answer to an error that did not arise in a route of the console. */
export function toConsoleAnswer(error: ApiError): Response {
  return withConsoleHeaders(apiErrorAsResponse(error));
}

function refuse({ log }: ConsoleServices, thrown: unknown, code: string | number, request: Request): Response {
  const context = contextOf(request);
  const error = toConsoleError(thrown);
  if (error instanceof ConsoleError) {
    const { requestId, client } = context;
    log.info({ event: "console.refused", requestId, code: error.code, address: client.address });
    return error.asResponse();
  }
  const refusal = toApiError(error, code, log, request);
  context.refusal = refusal.code;
  return apiErrorAsResponse(refusal);
}

function toConsoleError(thrown: unknown): unknown {
  if (thrown instanceof LibraryError) return refusalToConsoleError(thrown.refusal);
  if (thrown instanceof CorrectionError) {
    return refusalToConsoleError({ kind: "not_corrected", reason: thrown.reason });
  }
  return thrown instanceof VoicesError ? voiceRefusalToConsoleError(thrown.refusal) : thrown;
}

/**
 * Content security policy of the console's page. The page may load files from this server and call it. It may not use
 * inline scripts or styles, load anything from other origins, be framed, or submit forms.
 */
const contentPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "media-src 'self'",
  "img-src 'self' data:",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/**
 * Headers of every response of the console. All responses of the server already have `nosniff`, and `no-store` unless
 * the route sets another policy.
 */
const consoleHeaders: Readonly<Record<string, string>> = {
  "Content-Security-Policy": contentPolicy,
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  // For browsers that do not support frame-ancestors.
  "X-Frame-Options": "DENY",
};

function withConsoleHeaders(response: Response): Response {
  for (const [name, value] of Object.entries(consoleHeaders)) response.headers.set(name, value);
  return response;
}

/** A header that a page of another origin can send only after a preflight request, which this server never allows. */
const consoleHeader = "x-transcribe-console";

/**
 * Refuses requests that another site's page makes the browser send. The browser sets `Sec-Fetch-Site` (W3C Fetch
 * Metadata). Without it, for example over plain HTTP, the `Origin` must be this server's; a request without both may
 * only read. A request for an address that the user typed in (`none`) may only read, too. Browsers send the `Origin`
 * with every WebSocket (RFC 6455, 10.2), and not all send `Sec-Fetch-Site` with it.
 * @throws {ConsoleError} 403
 */
function requireSameOrigin(request: Request, ours: string): void {
  if (request.headers.has("upgrade") && request.headers.get("origin") !== ours) {
    throw new ConsoleError(
      "not_from_here",
      "The WebSocket comes from another site, or the address is not the server's.",
    );
  }
  const isReading = request.method === "GET" || request.method === "HEAD";
  const site = request.headers.get("sec-fetch-site");
  const origin = request.headers.get("origin");
  const isOwnSite = site === "same-origin" || (site === "none" && isReading);
  const isOwnOrigin = origin === null ? isReading : origin === ours;
  if (!(site === null ? isOwnOrigin : isOwnSite)) {
    throw new ConsoleError("not_from_here", "The request comes from another site.");
  }
  if (!isReading && request.headers.get(consoleHeader) !== "1") {
    throw new ConsoleError("not_from_here", `The request lacks the header ${consoleHeader} of the console's page.`);
  }
}
