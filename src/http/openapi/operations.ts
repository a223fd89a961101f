import type { OpenAPIV3 } from "openapi-types";
import type { Scope } from "../../accounts/index.ts";
import { type ErrorAnswerName, errors } from "./error-answers.ts";
import { answerHeaders, type HeaderName } from "./headers.ts";
import { parameter } from "./parameters.ts";

type Parameter = OpenAPIV3.ParameterObject | OpenAPIV3.ReferenceObject;

/** An operation of the API: what all have in common is added to it. */
export interface OperationText {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  /** The scope that a key needs; null for any key. */
  readonly scope: Scope | null;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: OpenAPIV3.RequestBodyObject;
  readonly success: OpenAPIV3.ResponsesObject;
  /** Beside those that every operation may give. */
  readonly errors: readonly ErrorAnswerName[];
}

/** The operation as the document has it, with the parameters, answers and headers that all have. */
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

/** 200 with JSON. */
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
