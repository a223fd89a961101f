import type { OpenAPIV3 } from "openapi-types";
import { basePath } from "../../../api-contract/index.ts";
import type { Settings } from "../../../config/index.ts";
import { programVersion } from "../../../program/index.ts";
import { errorResponses, headers, parameters } from "./components.ts";
import { description } from "./description.ts";
import { openAiPaths } from "./openai-paths.ts";
import { apiPaths, servicePaths } from "./paths.ts";
import { schemas } from "./schemas.ts";

/**
 * Returns the OpenAPI description of the API, built from the schemas that validate requests. It is OpenAPI 3.0 because
 * more client generators read it than 3.1, and nothing here needs 3.1.
 * @param limits as set on the server
 * @param attributions texts that name the authors of speech models, as far as a licence requires it
 */
export function openApiDocument(limits: Settings["limits"], attributions: readonly string[]): OpenAPIV3.Document {
  return {
    openapi: "3.0.3",
    info: { title: "Transcribe", version: programVersion, description: description(limits, attributions) },
    // Relative, so that the URL is correct behind any host or prefix.
    servers: [{ url: basePath }],
    tags: [
      { name: "API", description: "Recordings and their transcripts." },
      { name: "Exports", description: "Transcripts in further formats, and in the form that a client chooses." },
      { name: "Translation", description: "The translation to English of recordings created with `task=translate`." },
      {
        name: "Editing",
        description:
          "Changes of recordings and transcripts, beyond version 1. A key has the scope `transcriptions:edit` only if it was " +
          "created with it. Bodies are JSON of at most 1 MiB; another one is 400 `bad_request`.",
      },
      {
        name: "OpenAI",
        description:
          "OpenAI's audio API for existing clients, outside the API's base path, with the same keys and limits. Errors have " +
          "OpenAI's form. The setting `compat.openai` switches it off.",
      },
      { name: "Service", description: "Outside the API's base path, without a key." },
    ],
    security: [{ key: [] }],
    paths: { ...apiPaths(limits), ...openAiPaths, ...servicePaths },
    components: {
      securitySchemes: {
        key: { type: "http", scheme: "bearer", description: "An API key, which the operator creates: `trs_…`" },
      },
      schemas: { ...schemas },
      responses: errorResponses,
      parameters: { ...parameters },
      headers: { ...headers },
    },
  };
}
