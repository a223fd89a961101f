import { createHash, timingSafeEqual } from "node:crypto";
import { Elysia } from "elysia";
import type { Settings } from "../../config/index.ts";
import { type Metrics, metricsMediaType } from "../../telemetry/index.ts";
import {
  aliveSchema,
  openApiDocument,
  page,
  pagePolicy,
  pageScript,
  readySchema,
  swaggerUiFiles,
} from "../api/openapi/index.ts";
import { ApiError, unavailable } from "../shared/errors.ts";
import { contextOf, heldBody } from "../shared/request-context.ts";
import { type WantedWorkersAnswer, wantedWorkersSchema } from "../shared/wanted-workers.ts";

export interface ServiceOptions {
  /** Returns the reason why the server can't accept work, as text for people; null if it can. */
  readonly readiness: () => string | null | Promise<string | null>;
  /** Returns a warning for people while the server accepts work; null if there is none. */
  readonly warning: () => string | null;
  readonly metrics: Metrics;
  /** Returns whether other machines may read the metrics. */
  readonly metricsRemote: () => boolean;
  /** Returns the token with which other machines may read the metrics; null for none. */
  readonly metricsToken: () => string | null;
  /** Returns how many workers the waiting audio needs; null if the server has no fleet. */
  readonly wantedWorkers: () => {
    readonly wanted: number;
    readonly present: number;
    readonly waitingAudioSeconds: number;
    readonly laneSpeed: number;
    readonly lanesOfWorker: number;
  } | null;
  readonly limits: () => Settings["limits"];
  /** Returns the texts that name the authors of speech models, as far as a licence requires it. */
  readonly attributions: () => readonly string[];
}

// The page refers to its files by version, so the content under a name never changes.
const immutable = { "Cache-Control": "public, max-age=31536000, immutable" };

/**
 * Creates the routes outside the API's base path, none of which needs a key: health, metrics for Prometheus, the number of
 * workers that a fleet needs, and the documentation. Only this machine may read the metrics and that number unless the operator allows others, or gives them a token. A forwarded request never
 * counts as local, even if the proxy connects over loopback.
 */
export function serviceRoutes({
  readiness,
  warning,
  metrics,
  metricsRemote,
  metricsToken,
  wantedWorkers,
  ...described
}: ServiceOptions) {
  const requireReader = (request: Request) => {
    if (metricsRemote() || contextOf(request).client.isLocal || hasToken(request, metricsToken())) return;
    throw new ApiError(
      "forbidden",
      "Only this machine may read the metrics; the settings metrics.remote and metrics.token_file open them.",
    );
  };
  const documentOf = openApiText(described);
  const routes = new Elysia({ name: "service" })
    .get("/healthz", () => ({ status: "alive" as const }), { response: { 200: aliveSchema } })
    .get(
      "/readyz",
      async () => {
        const reason = await readiness();
        if (reason === null) {
          const text = warning();
          return { status: "ready" as const, ...(text === null ? {} : { warning: text }) };
        }
        throw unavailable(`Not ready: ${reason}`, 5);
      },
      { response: { 200: readySchema } },
    )
    .get("/metrics", async ({ request }) => {
      requireReader(request);
      return answer(heldBody(request, await metrics.read()), metricsMediaType);
    })
    .get(
      "/fleet/workers",
      ({ request }): WantedWorkersAnswer => {
        requireReader(request);
        const found = wantedWorkers();
        if (found === null) throw new ApiError("not_found", "This server works alone; fleet.broker names no fleet.");
        return {
          wanted: found.wanted,
          present: found.present,
          waiting_audio_seconds: Math.round(found.waitingAudioSeconds),
          lane_speed: found.laneSpeed,
          lanes_of_worker: found.lanesOfWorker,
        };
      },
      { response: { 200: wantedWorkersSchema } },
    )
    .get("/openapi.json", ({ request }) => answer(heldBody(request, documentOf()), "application/json;charset=utf-8"))
    .get("/docs", () =>
      answer(page, "text/html; charset=utf-8", {
        "Content-Security-Policy": pagePolicy,
        "Referrer-Policy": "no-referrer",
      }),
    )
    .get("/docs/page.js", () => answer(pageScript, "text/javascript; charset=utf-8", immutable));
  for (const { name, path, mediaType } of swaggerUiFiles) {
    routes.get(`/docs/${name}`, () => answer(Bun.file(path), mediaType, immutable));
  }
  return routes;
}

/** Returns whether a request sends a token. The time of the comparison tells nothing about the token. */
function hasToken({ headers }: Request, token: string | null): boolean {
  const sent = /^bearer +(\S+) *$/i.exec(headers.get("authorization") ?? "")?.[1];
  return token !== null && sent !== undefined && timingSafeEqual(digestOf(sent), digestOf(token));
}

const digestOf = (text: string) => createHash("sha256").update(text).digest();

/** Returns a function that returns the OpenAPI document, which is created again when the limits or models have changed. */
function openApiText({ limits, attributions }: Pick<ServiceOptions, "limits" | "attributions">): () => string {
  let described = "";
  let text = "";
  const current = () => {
    const state = JSON.stringify([limits(), attributions()]);
    if (state !== described) text = JSON.stringify(openApiDocument(limits(), attributions()));
    described = state;
    return text;
  };
  current();
  return current;
}

function answer(body: string | Blob, mediaType: string, headers: Record<string, string> = {}): Response {
  return new Response(body, { headers: { ...headers, "Content-Type": mediaType } });
}
