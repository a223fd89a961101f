import { type AnyElysia, Elysia } from "elysia";
import { requireScope } from "../shared/access.ts";
import { addRoute } from "../shared/operations.ts";
import { describeModel, listModels } from "./models.ts";
import { openAiOperations, unversioned } from "./operations.ts";
import { OpenAiTranscriptions } from "./transcriptions.ts";
import type { TranscriptionServices } from "./waiting-transcripts.ts";

/** Creates the routes of OpenAI's audio API, each with and without the version in its path. */
export function openAiRoutes(services: TranscriptionServices): AnyElysia {
  const { models } = services;
  const transcriptions = new OpenAiTranscriptions(services);
  const api = new Elysia({ name: "openai" });
  const add: typeof addRoute = (_, operation, handle) => {
    addRoute(api, operation, handle);
    addRoute(api, { ...operation, path: unversioned(operation.path) }, handle);
  };

  add(api, openAiOperations.createOpenAiTranscription, ({ request }) => {
    // The answer has the transcript, so the key must be able to read it.
    requireScope(request, "transcriptions:read");
    return transcriptions.transcribe(request, "transcribe");
  });

  add(api, openAiOperations.createOpenAiTranslation, ({ request }) => {
    requireScope(request, "transcriptions:read");
    return transcriptions.transcribe(request, "translate");
  });

  add(api, openAiOperations.listOpenAiModels, () => ({ object: "list" as const, data: listModels(models) }));

  add(api, openAiOperations.getOpenAiModel, ({ params }) => describeModel(models, params.model ?? ""));

  return api;
}
