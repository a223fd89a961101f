import { Elysia } from "elysia";
import { contextOf, refuseOtherMethods, toApiError } from "../http/index.ts";
import { Sessions } from "./entry/index.ts";
import { apiErrorAsResponse, ConsoleError } from "./errors.ts";
import { withConsoleHeaders } from "./headers.ts";
import { OverviewFeed } from "./overview-feed.ts";
import { RecordingFacts } from "./recording-facts.ts";
import { accountRoutes } from "./routes/accounts.ts";
import { listeningRoutes } from "./routes/listening.ts";
import { overviewRoutes } from "./routes/overview.ts";
import { pageRoutes } from "./routes/page.ts";
import { recordingRoutes } from "./routes/recordings.ts";
import { sessionRoutes } from "./routes/session.ts";
import { transcriptRoutes } from "./routes/transcript.ts";
import { requireSameOrigin } from "./same-origin.ts";
import { Searching } from "./searching.ts";
import type { ConsoleServices } from "./services.ts";
import { requireSession } from "./signed-in.ts";

/** URL path of the console. */
export const consolePath = "/console";
const dataPath = `${consolePath}/data`;

/** Requests that need no session, in addition to the page itself. */
const open: readonly string[] = [`GET ${dataPath}/entrance`, `POST ${dataPath}/session`];

/** Interval between searches for recordings whose playback copy could not be made when they ended. */
const catchUpMilliseconds = 300_000;

/** The console of a server. */
export interface Console {
  /** Returns whether a path belongs to the console. */
  has(path: string): boolean;
  handle(request: Request): Promise<Response>;
  /** Ends the responses that are still being sent, and stops the background work. */
  close(): Promise<void>;
}

/** Creates the console: the page and its data routes. Every response gets the console's security headers. */
export function createConsole(services: ConsoleServices): Console {
  const sessions = new Sessions(services.store, services.now);
  const feed = new OverviewFeed(services, sessions);
  const facts = new RecordingFacts(services);
  const searching = new Searching(services);
  const { listening, events } = services;
  const subscriptions = [
    events.onEnded("search index", ({ id }) => searching.add(id)),
    events.onEnded("playback copies", ({ id }) => listening.enqueue(id)),
  ];
  const catchUp = () => {
    // A folder that cannot be read now is read at the next interval.
    listening.enqueueMissing().catch((error) => services.log.warn({ event: "console.catch_up_failed", err: error }));
  };
  const catchingUp = setInterval(catchUp, catchUpMilliseconds);
  catchUp();
  const app = new Elysia({ strictPath: true, normalize: false, handler: { standardHostname: services.secure } })
    .onError({ as: "global" }, ({ error, code, request }) => refuse(services, error, code, request))
    .onRequest((incoming) => {
      const { request } = incoming;
      // The exact path that the router matches. Elysia's type does not declare this property.
      const path = "path" in incoming && typeof incoming.path === "string" ? incoming.path : dataPath;
      if (!path.startsWith(dataPath)) return;
      requireSameOrigin(request, contextOf(request));
      if (!open.includes(`${request.method} ${path}`)) requireSession(request, sessions);
    })
    .use(pageRoutes(consolePath))
    .group(dataPath, (data) =>
      data
        .use(sessionRoutes(services, sessions))
        .use(overviewRoutes(services, feed))
        .use(recordingRoutes(services, sessions, facts, () => searching.isBusy))
        .use(transcriptRoutes(services, facts))
        .use(listeningRoutes(services))
        .use(accountRoutes(services)),
    );
  refuseOtherMethods(app);
  return {
    has: (path) => path === consolePath || path.startsWith(`${consolePath}/`),
    handle: async (request) => withConsoleHeaders(await app.handle(request)),
    async close() {
      clearInterval(catchingUp);
      for (const unsubscribe of subscriptions) unsubscribe();
      feed.close();
      await Promise.all([searching.stop(), listening.stop()]);
    },
  };
}

function refuse({ log }: ConsoleServices, error: unknown, code: string | number, request: Request): Response {
  const context = contextOf(request);
  if (error instanceof ConsoleError) {
    const { requestId, client } = context;
    log.info({ event: "console.refused", requestId, code: error.code, address: client.address });
    return error.asResponse();
  }
  const refusal = toApiError(error, code, log, request);
  context.refusal = refusal.code;
  return apiErrorAsResponse(refusal);
}
