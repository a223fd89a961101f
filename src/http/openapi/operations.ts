import type { OpenAPIV3 } from "openapi-types";
import type { Scope } from "../../accounts/index.ts";
import { type ErrorAnswerName, errors } from "./error-answers.ts";
import { answerHeaders, type HeaderName } from "./headers.ts";
import { parameter } from "./parameters.ts";

type Parameter = OpenAPIV3.ParameterObject | OpenAPIV3.ReferenceObject;

/** Specific parts of an operation; `operation` adds the common parts. */
export interface OperationText {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  /** The scope that a key needs; null for any key. */
  readonly scope: Scope | null;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: OpenAPIV3.RequestBodyObject;
  readonly success: OpenAPIV3.ResponsesObject;
  /** Errors besides those that every operation may return. */
  readonly errors: readonly ErrorAnswerName[];
}

/** Returns an operation in OpenAPI form, with the common parameters, answers and headers. */
export function operation(text: OperationText): OpenAPIV3.OperationObject {
  const { scope, success, parameters = [], requestBody, operationId, summary } = text;
  const needs = scope === null ? "Any key may do this." : `The key needs the scope \`${scope}\`.`;
  return {
    operationId,
    summary,
    tags: ["API"],
    description: `${text.description}\n\n${needs}`,
    parameters: [...parameters, parameter("RequestId")],
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: {
      ...success,
      ...errors("Unauthorized", ...text.errors, "MethodNotAllowed", "RateLimited", "InternalError"),
    },
  };
}

/** Returns the description of an answer 200 with JSON. */
export function jsonAnswer(
  description: string,
  schema: OpenAPIV3.ReferenceObject,
  examples: Record<string, OpenAPIV3.ExampleObject>,
  ...headers: readonly HeaderName[]
): OpenAPIV3.ResponseObject {
  return {
    description,
    headers: answerHeaders(...headers),
    content: { "application/json": { schema, examples } },
  };
}
