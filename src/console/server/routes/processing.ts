import { type AnyElysia, Elysia } from "elysia";
import { contextOf, requireActive } from "../../../http/index.ts";
import { isOpen } from "../../../recordings/index.ts";
import {
  type ProcessingOptions,
  processAgainSchema,
  processingOptionsSchema,
  recordingSchema,
} from "../../contract/index.ts";
import { addRoute } from "../add-route.ts";
import { ConsoleError } from "../errors.ts";
import { requireAccount } from "../lookups.ts";
import { readBody } from "../read-body.ts";
import type { RecordingFacts } from "../recording-facts.ts";
import { viewerOf } from "../request-session.ts";
import type { ConsoleServices } from "../services.ts";

/** Creates the routes that process a completed recording again, and cancel that. */
export function processingRoutes(services: ConsoleServices, facts: RecordingFacts): AnyElysia {
  const { library, store, settings, now } = services;
  const routes = new Elysia({ name: "console-processing", prefix: "/recordings/:id" });

  addRoute(routes, "GET /processing", { 200: processingOptionsSchema }, (request, id) => {
    const { pinnedLanguage } = library.requireChangeable(viewerOf(request, store), id);
    return { models: modelsOf(services), language: pinnedLanguage };
  });

  addRoute(routes, "POST /processing", { 200: recordingSchema }, async (request, id) => {
    const { model, language } = await readBody(request, processAgainSchema);
    const viewer = viewerOf(request, store);
    const { accountId } = library.requireChangeable(viewer, id);
    requireActive(requireAccount(services, viewer, accountId), now(), contextOf(request).origin);
    const chosen = modelsOf(services).find((each) => each.id === model);
    if (chosen === undefined) throw invalid("model", "This model is not installed.");
    if (language !== null && !chosen.languages.some(({ code }) => code === language)) {
      throw invalid("language", "The model does not know this language.");
    }
    const recordingsPerAccount = settings().limits.recordings_per_account;
    await library.processAgain(viewer, id, { speechModel: model, pinnedLanguage: language, recordingsPerAccount });
    return facts.show(viewer, library.require(viewer, id));
  });

  addRoute(routes, "DELETE /processing", { 200: recordingSchema }, async (request, id) => {
    const viewer = viewerOf(request, store);
    const rerun = library.rerunOf(viewer, library.requireChangeable(viewer, id));
    if (rerun === null || !isOpen(rerun.status)) {
      throw new ConsoleError("not_ready", "The recording is not being processed again.");
    }
    await library.cancel(viewer, id);
    return facts.show(viewer, library.require(viewer, id));
  });

  return routes;
}

/** Returns the models for a rerun with their languages, the one for new recordings first. */
function modelsOf({ modelInUse, models }: ConsoleServices): ProcessingOptions["models"] {
  const current = modelInUse();
  const others = models.installed().flatMap(({ id }) => (id === current.id ? [] : (models.find(id) ?? [])));
  return [current, ...others].map(({ id, languages }) => ({
    id,
    languages: languages.map(({ code, name }) => ({ code, name })),
  }));
}

function invalid(field: string, message: string): ConsoleError {
  return new ConsoleError("validation_failed", message, { field });
}
