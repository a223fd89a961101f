import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type AnyElysia, Elysia } from "elysia";
import type { Settings } from "../../../config/index.ts";
import type { Store } from "../../../database/index.ts";
import { LiveError } from "../../../live/index.ts";
import { acceptSocket, offeredProtocols, requireSocketRequest } from "../../shared/accept-socket.ts";
import { requireScope } from "../../shared/access.ts";
import type { ClientSecrets } from "../../shared/client-secrets.ts";
import {
  GuardedSocket,
  type LiveServices,
  liveRefusalToApiError,
  liveSenderOf,
  openSession,
} from "../../shared/live/index.ts";
import { addCheckedRoute } from "../../shared/operations.ts";
import { callerOf, contextOf } from "../../shared/request-context.ts";
import type { RequestIntake } from "../../shared/request-intake.ts";
import type { UsableModels } from "../../shared/usable-models.ts";
import type { EventNames } from "./item-events.ts";
import { RealtimeClient } from "./realtime-client.ts";
import { createClientSecret, createTranscriptionSession } from "./secrets.ts";
import { sessionFields } from "./session-fields.ts";
import { SessionSettings } from "./session-settings.ts";

export interface RealtimeServices {
  readonly live: LiveServices & { readonly clientSecrets: ClientSecrets };
  readonly models: UsableModels;
  readonly requests: RequestIntake;
  readonly compat: () => Settings["compat"];
  readonly store: Store;
}

const AZURE_ROOT = "/openai/v1/realtime";
/** Paths of the Realtime API: with and without the version, and as Azure's clients have it. */
const roots = ["/v1/realtime", "/realtime", AZURE_ROOT];
const scope = "transcriptions:write";
const query = Type.Object({});

/** Returns whether a path opens a live session. */
export function isRealtimePath(path: string): boolean {
  return roots.includes(path);
}

/** Returns whether a path is one of Azure's clients, which send their key in a header of their own. */
export function isAzurePath(path: string): boolean {
  return path === AZURE_ROOT || path.startsWith(`${AZURE_ROOT}/`);
}

/** Creates the routes of OpenAI's Realtime API for transcription. */
export function realtimeRoutes(services: RealtimeServices): AnyElysia {
  const { models, live } = services;
  const { clientSecrets } = live;
  const api = new Elysia({ name: "openai-realtime" });
  for (const root of roots) {
    addCheckedRoute(api, { method: "GET", path: root, scope, query }, (request) => openRealtime(request, services));
    addCheckedRoute(api, { method: "POST", path: `${root}/client_secrets`, scope, query }, (request) => {
      requireScope(request, "transcriptions:read");
      return createClientSecret(request, { models, clientSecrets });
    });
    addCheckedRoute(api, { method: "POST", path: `${root}/transcription_sessions`, scope, query }, (request) => {
      requireScope(request, "transcriptions:read");
      return createTranscriptionSession(request, { models, clientSecrets });
    });
  }
  return api;
}

/**
 * Opens a live session for a request, and connects it with the request's WebSocket.
 * @throws {ApiError} for a request without a WebSocket, and for each refusal @throws {IntakeError} as for a create
 */
function openRealtime(request: Request, { live, models, requests, compat, store }: RealtimeServices): Response {
  // The events have the transcript, so the key must be able to read it.
  requireScope(request, "transcriptions:read");
  requireSocketRequest(request);
  const { sessions, log, now } = live;
  const sender = liveSenderOf(request, { store, now });
  const { requestId } = contextOf(request);
  const settings = settingsOf(request, models);
  const protocols = offeredProtocols(request);
  try {
    const handler = new GuardedSocket(
      { log, requestId, now },
      (socket) =>
        new RealtimeClient(socket, {
          ...{ names: namesFor(request, protocols), settings, models },
          open: (chosen, listener) => {
            const options = { ...chosen, keep: compat().keep, name: null };
            return openSession(request, live, () => sessions.open(sender, options, listener));
          },
        }),
    );
    requests.showLimits(request, callerOf(request).account);
    return acceptSocket(request, handler, protocols.includes(PROTOCOL) ? PROTOCOL : null);
  } catch (error) {
    throw error instanceof LiveError ? liveRefusalToApiError(error.refusal, now()) : error;
  }
}

/** Subprotocol of the API, which browsers offer. */
const PROTOCOL = "realtime";

/** Returns the settings that the request's client secret has; those of every session if it has none. */
function settingsOf(request: Request, models: UsableModels): SessionSettings {
  const sent = contextOf(request).clientSecret?.settings;
  const settings = new SessionSettings();
  return Value.Check(sessionFields, sent) ? settings.with(sent, models) : settings;
}

/** Clients that expect the older names of events say so. */
function namesFor({ headers }: Request, protocols: readonly string[]): EventNames {
  const isOlder = headers.get("openai-beta")?.includes("realtime=v1") || protocols.includes("openai-beta.realtime-v1");
  return isOlder ? "older" : "current";
}
