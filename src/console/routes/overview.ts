import { Elysia } from "elysia";
import { listAccounts, listWorkspaces } from "../../accounts/index.ts";
import { overviewSchema } from "../contract/overview.ts";
import { type UploadOptions, uploadOptionsSchema } from "../contract/session.ts";
import type { OverviewFeed } from "../overview-feed.ts";
import { named } from "../owners.ts";
import { readOverview } from "../read-overview.ts";
import type { ConsoleServices } from "../services.ts";
import { sessionOf } from "../signed-in.ts";

/** Creates the routes for the overview, once or as a stream of events, and for the choices in the upload form. */
export function overviewRoutes(services: ConsoleServices, feed: OverviewFeed) {
  return new Elysia({ name: "console-overview" })
    .get("/overview", () => readOverview(services), { response: { 200: overviewSchema } })
    .get("/events", ({ request }) => feed.open(sessionOf(request)))
    .get("/upload-options", () => uploadOptions(services), { response: { 200: uploadOptionsSchema } });
}

function uploadOptions({ store, settings, modelInUse, now }: ConsoleServices): UploadOptions {
  const { limits, fetch } = settings();
  return {
    accounts: listAccounts(store)
      .filter(({ standing, subscribedUntil }) => standing === "active" && (subscribedUntil ?? Infinity) > now())
      .map((account) => ({ ...named(account), workspaces: listWorkspaces(store, account).map(named) }))
      .sort((a, b) => a.name.localeCompare(b.name, "en")),
    languages: modelInUse().languages.map(({ code, name }) => ({ code, name })),
    most_bytes: limits.upload_bytes,
    links: fetch.enabled,
  };
}
