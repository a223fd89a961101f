import type { OpenAPIV3 } from "openapi-types";
import type { ErrorAnswerName } from "./components.ts";

/** Documentation of an operation. Its path, scope and query are in the tables of operations. */
export interface OperationText {
  readonly summary: string;
  readonly description: string;
  /** Parameters in the path and in headers, besides those that every operation accepts. */
  readonly parameters?: readonly (OpenAPIV3.ReferenceObject | OpenAPIV3.ParameterObject)[];
  readonly requestBody?: OpenAPIV3.RequestBodyObject;
  readonly success: OpenAPIV3.ResponsesObject;
  /** Errors besides those that every operation may return. */
  readonly errors: readonly ErrorAnswerName[];
}
