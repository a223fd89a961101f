import type { OpenAPIV3 } from "openapi-types";
import { requestIdShape } from "../request-context.ts";

const wholeSeconds = { type: "integer", minimum: 1 } as const;

/** Response headers, by name. */
export const headers = {
  "X-Request-Id": {
    description: "The request's own `X-Request-Id` where it can be one, else a new one. The server's log has it too.",
    required: true,
    schema: { type: "string", pattern: requestIdShape.source },
    example: "0d3f6c1e-6f0b-4a39-9a39-51d6e2a3f1c7",
  },
  "X-Content-Type-Options": { required: true, schema: { type: "string", enum: ["nosniff"] } },
  "Cache-Control": { required: true, schema: { type: "string" }, example: "no-store" },
  RateLimit: {
    description:
      "What is left of each limit that the request came under (`r`) and for how many seconds that counts (`t`), as in " +
      "draft-ietf-httpapi-ratelimit-headers-10. Every answer to a key that is in force and whose account may use the API has it.",
    schema: { type: "string", pattern: '^"[a-z-]+";r=\\d+;t=\\d+(, "[a-z-]+";r=\\d+;t=\\d+)*$' },
    example: '"requests";r=119;t=60',
  },
  "RateLimit-Policy": {
    description: "Those limits themselves: how many (`q`) within how many seconds (`w`).",
    schema: { type: "string", pattern: '^"[a-z-]+";q=\\d+;w=\\d+(, "[a-z-]+";q=\\d+;w=\\d+)*$' },
    example: '"requests";q=120;w=60',
  },
  "Retry-After": {
    description: "Seconds to wait. A retry then passes, unless others have used what came free.",
    required: true,
    schema: wholeSeconds,
    example: 12,
  },
  "WWW-Authenticate": { required: true, schema: { type: "string", enum: ["Bearer"] } },
  Allow: {
    description: "The methods that this path takes.",
    required: true,
    schema: { type: "string" },
    example: "GET, HEAD",
  },
  Location: {
    description: "Path of the recording.",
    required: true,
    schema: { type: "string", format: "uri-reference" },
    example: "/api/public/v1/transcriptions/019aa5a3-0c7b-7c41-9f1e-2f6a0c1d9b5e",
  },
  "Idempotency-Replayed": {
    description: "There when this is the first answer again.",
    schema: { type: "string", enum: ["true"] },
  },
  ETag: {
    description: "Names this content; send it as `If-None-Match`.",
    required: true,
    schema: { type: "string" },
    example: '"PpW0Y0zqXv3l8vCkq2nq7mC9d2E"',
  },
  "Content-Disposition": {
    description: "`attachment`, with the file's name as in RFC 6266: `filename` in ASCII and `filename*` in full.",
    required: true,
    schema: { type: "string" },
    example: "attachment; filename=\"Gespra_ch.srt\"; filename*=UTF-8''Gespr%C3%A4ch.srt",
  },
} as const satisfies Record<string, OpenAPIV3.HeaderObject>;

export type HeaderName = keyof typeof headers;

/** Headers of every answer. */
const common: readonly HeaderName[] = ["X-Request-Id", "X-Content-Type-Options", "Cache-Control"];
/** Additional headers of every answer to an authenticated request. */
const ofCallers: readonly HeaderName[] = ["RateLimit", "RateLimit-Policy"];

/** Returns references to the headers of an answer of the API. @param more headers besides the common ones */
export function answerHeaders(...more: readonly HeaderName[]): Record<string, OpenAPIV3.ReferenceObject> {
  return references([...common, ...ofCallers, ...more]);
}

/** Returns references to the headers of an answer outside the API's base path. */
export function plainHeaders(...more: readonly HeaderName[]): Record<string, OpenAPIV3.ReferenceObject> {
  return references([...common, ...more]);
}

function references(names: readonly HeaderName[]): Record<string, OpenAPIV3.ReferenceObject> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
