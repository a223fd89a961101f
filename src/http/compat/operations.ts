import { Type } from "@sinclair/typebox";
import type { Operation } from "../shared/operations.ts";
import { modelListSchema, modelSchema } from "./models.ts";

const noQuery = Type.Object({});

/** The operations of OpenAI's audio API, by operationId. Each also works without `/v1`. */
export const openAiOperations = {
  createOpenAiTranscription: {
    method: "POST",
    path: "/v1/audio/transcriptions",
    scope: "transcriptions:write",
    query: noQuery,
  },
  createOpenAiTranslation: {
    method: "POST",
    path: "/v1/audio/translations",
    scope: "transcriptions:write",
    query: noQuery,
  },
  listOpenAiModels: { method: "GET", path: "/v1/models", scope: null, query: noQuery, response: modelListSchema },
  getOpenAiModel: { method: "GET", path: "/v1/models/:model", scope: null, query: noQuery, response: modelSchema },
} as const satisfies Record<string, Operation>;

const PREFIX = "/v1";

/** Returns the other path of an operation, for clients whose base URL has no version. */
export function unversioned(path: string): string {
  return path.slice(PREFIX.length);
}

/** Returns whether a path belongs to OpenAI's API, so that its answers have OpenAI's form. */
export function isOpenAiPath(path: string): boolean {
  return [PREFIX, "/audio", "/models", "/realtime", "/openai"].some(
    (root) => path === root || path.startsWith(`${root}/`),
  );
}
