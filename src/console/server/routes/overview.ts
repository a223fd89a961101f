import { type AnyElysia, Elysia } from "elysia";
import { listAccounts, listWorkspaces } from "../../../accounts/index.ts";
import { PageFiller } from "../../../http/index.ts";
import type { Viewer } from "../../../library/index.ts";
import { overviewSchema, type UploadOptions, uploadOptionsSchema } from "../../contract/index.ts";
import { addRoute } from "../add-route.ts";
import { MAX_WORKSPACES } from "../lookups.ts";
import { readOverview } from "../overview.ts";
import type { OverviewFeed } from "../overview-feed.ts";
import { sessionOf, viewerOf } from "../request-session.ts";
import type { ConsoleServices } from "../services.ts";
import { named } from "../show-recording.ts";

/** Creates the routes for the overview, once or as a stream of events, and for the choices in the upload form. */
export function overviewRoutes(services: ConsoleServices, feed: OverviewFeed): AnyElysia {
  const routes = new Elysia({ name: "console-overview" });
  addRoute(routes, "GET /overview", { 200: overviewSchema }, () => readOverview(services));
  addRoute(routes, "GET /upload-options", { 200: uploadOptionsSchema }, (request) =>
    uploadOptions(services, viewerOf(request, services.store)),
  );
  return routes.get("/events", ({ request }) => feed.open(sessionOf(request)));
}

function uploadOptions({ store, library, settings, modelInUse, now }: ConsoleServices, viewer: Viewer): UploadOptions {
  const { limits, fetch } = settings();
  const accounts = listAccounts(store)
    .filter(({ id }) => library.sees(viewer, id))
    .filter(({ standing, subscribedUntil }) => standing === "active" && (subscribedUntil ?? Infinity) > now())
    .sort((a, b) => a.name.localeCompare(b.name, "en"));
  const { entries } = PageFiller.fill(accounts, accounts.length, (account) => ({
    ...named(account),
    workspaces: listWorkspaces(store, account).slice(0, MAX_WORKSPACES).map(named),
  }));
  return {
    accounts: entries,
    languages: modelInUse().languages.map(({ code, name }) => ({ code, name })),
    max_bytes: limits.upload_bytes,
    links: fetch.enabled,
  };
}
