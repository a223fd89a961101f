import type { OpenAPIV3 } from "openapi-types";
import type { Settings } from "../../config/index.ts";
import { programVersion } from "../../program/index.ts";
import { basePath } from "../access.ts";
import { apiPaths } from "./api-paths.ts";
import { description } from "./description.ts";
import { errorResponses } from "./error-answers.ts";
import { headers } from "./headers.ts";
import { parameters } from "./parameters.ts";
import { schemas } from "./schemas.ts";
import { servicePaths } from "./service-paths.ts";

/**
 * Returns the OpenAPI description of the API, built from the schemas that validate requests. It is OpenAPI 3.0 because
 * more client generators read it than 3.1, and nothing here needs 3.1.
 * @param limits as set on the server
 */
export function openApiDocument(limits: Settings["limits"]): OpenAPIV3.Document {
  return {
    openapi: "3.0.3",
    info: { title: "Transcribe", version: programVersion, description: description(limits) },
    // Relative, so that the URL is correct behind any host or prefix.
    servers: [{ url: basePath }],
    tags: [
      { name: "API", description: "Recordings and their transcripts." },
      { name: "Service", description: "Outside the API's base path, without a key." },
    ],
    security: [{ key: [] }],
    paths: { ...apiPaths(limits), ...servicePaths },
    components: {
      securitySchemes: {
        key: { type: "http", scheme: "bearer", description: "An API key, as the operator makes them: `trs_…`" },
      },
      schemas: { ...schemas },
      responses: errorResponses,
      parameters: { ...parameters },
      headers: { ...headers },
    },
  };
}
