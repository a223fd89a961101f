import type { OpenAPIV3 } from "openapi-types";
import { idempotencyKeyShape } from "../idempotency.ts";

/** Parameters shared by operations, by their name in the document. */
export const parameters = {
  RequestId: {
    name: "X-Request-Id",
    in: "header",
    description:
      "An id of your own for this request, 1 to 128 characters of A–Z a–z 0–9 . _ : -. Anything else is replaced by a new one.",
    schema: { type: "string" },
    example: "job-7:poll-3",
  },
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    description:
      "Names this create, so that it happens once however often it is sent: 1 to 255 visible ASCII characters, such as a new " +
      "UUID. Send one, and send it again with every retry.",
    schema: { type: "string", pattern: idempotencyKeyShape.source, minLength: 1, maxLength: 255 },
    example: "3f2b9c0e-5a0d-4f0c-9d39-0a8f0d1c2e7b",
  },
  ContentDigest: {
    name: "Content-Digest",
    in: "header",
    description:
      "Digest of the whole body (RFC 9530), sha-256 or sha-512. A body that does not match it is refused with " +
      "`uploaded_file_cannot_be_processed`. At most 16 digests in 2,048 characters; of several of one algorithm the last counts.",
    schema: { type: "string" },
    example: "sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:",
  },
  IfNoneMatch: {
    name: "If-None-Match",
    in: "header",
    description: "`ETag` of an export that you have. If it still is the same, the answer is 304 without a body.",
    schema: { type: "string" },
    example: '"PpW0Y0zqXv3l8vCkq2nq7mC9d2E"',
  },
  TranscriptionId: {
    name: "id",
    in: "path",
    required: true,
    description: "The recording's `id`.",
    schema: { type: "string", format: "uuid" },
    example: "019aa5a3-0c7b-7c41-9f1e-2f6a0c1d9b5e",
  },
} as const satisfies Record<string, OpenAPIV3.ParameterObject>;

export function parameter(name: keyof typeof parameters): OpenAPIV3.ReferenceObject {
  return { $ref: `#/components/parameters/${name}` };
}
