import type { TSchema } from "@sinclair/typebox";
import type { OpenAPIV3 } from "openapi-types";
import { aliveSchema, readySchema } from "../health.ts";
import { errors } from "./error-answers.ts";
import { plainHeaders } from "./headers.ts";
import { parameter } from "./parameters.ts";
import { toOpenApi } from "./to-openapi.ts";

interface ServiceText {
  readonly operationId: string;
  readonly summary: string;
  readonly mediaType: string;
  readonly schema: OpenAPIV3.SchemaObject | OpenAPIV3.ReferenceObject;
  readonly errors?: OpenAPIV3.ResponsesObject;
}

/** Returns the description of a path outside the API's base path: GET, without a key. */
function servicePath(text: ServiceText): OpenAPIV3.PathItemObject {
  return {
    servers: [{ url: "/" }],
    get: {
      operationId: text.operationId,
      summary: text.summary,
      tags: ["Service"],
      security: [],
      parameters: [parameter("RequestId")],
      responses: {
        200: {
          description: "As it says.",
          headers: plainHeaders(),
          content: { [text.mediaType]: { schema: text.schema } },
        },
        ...errors("MethodNotAllowed", "InternalError"),
        ...text.errors,
      },
    },
  };
}

function health(operationId: string, summary: string, schema: TSchema, unready?: OpenAPIV3.ResponsesObject) {
  const known = { operationId, summary, mediaType: "application/json", schema: toOpenApi(schema) };
  return servicePath(unready === undefined ? known : { ...known, errors: unready });
}

/** Paths that the server offers in addition to the API, relative to its root. */
export const servicePaths: OpenAPIV3.PathsObject = {
  "/healthz": health("getHealth", "Whether the server is alive", aliveSchema),
  "/readyz": health("getReadiness", "Whether the server is ready to take work", readySchema, errors("Unavailable")),
  "/metrics": servicePath({
    operationId: "getMetrics",
    summary: "Counts and gauges in Prometheus's text format, for this machine alone unless configured",
    mediaType: "text/plain",
    schema: { type: "string" },
    errors: errors("Forbidden"),
  }),
  "/openapi.json": servicePath({
    operationId: "getOpenApi",
    summary: "This document",
    mediaType: "application/json",
    schema: { type: "object" },
  }),
  "/docs": servicePath({
    operationId: "getDocs",
    summary: "This document as a page",
    mediaType: "text/html",
    schema: { type: "string" },
  }),
};
