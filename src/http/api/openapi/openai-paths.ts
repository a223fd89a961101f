import type { OpenAPIV3 } from "openapi-types";
import { openAiOperations } from "../../compat/index.ts";
import type { Operation } from "../../shared/operations.ts";
import { apiHeaders, type HeaderName, parameter } from "./components.ts";
import { schemaOf } from "./schemas.ts";
import type { Schema } from "./to-openapi.ts";

/** Documentation of an operation. Its path and scope are in `openAiOperations`. */
interface OpenAiText {
  readonly summary: string;
  readonly description: string;
  readonly requestBody?: OpenAPIV3.RequestBodyObject;
  /** The path parameters. */
  readonly parameters?: readonly OpenAPIV3.ParameterObject[];
  readonly success?: OpenAPIV3.ResponseObject;
  /** Statuses of errors besides those that every operation may return. */
  readonly errors: readonly (keyof typeof meanings)[];
}

/** When each status is returned, and the headers that it adds. */
const meanings = {
  400: ["The request is not valid; `param` names the field."],
  401: ["`invalid_api_key`: there is no key, or it is not active.", "WWW-Authenticate"],
  403: ["The key lacks a scope, or its account may not use the API."],
  404: ["`model_not_found`: no such model is installed. For another path: `not_found`."],
  405: ["The path does not accept this method.", "Allow"],
  413: ["The file or the request is larger than the server accepts."],
  415: ["The body is not multipart/form-data."],
  429: ["`rate_limit_exceeded`: a limit of the key or its account is used up.", "Retry-After"],
  500: ["A fault of the service."],
  503: ["The server is stopping, its disk is full, or the transcript was not ready in time.", "Retry-After"],
} as const satisfies Record<number, readonly [string, HeaderName?]>;

/** Statuses that every operation may return. */
const COMMON = [401, 403, 405, 429, 500] as const;

const plain = { schema: { type: "string" } } as const;
const jsonOf = (schema: Schema) => ({ "application/json": { schema } });
/** The answers with the text of a recording, in all formats. */
const textContent = {
  ...jsonOf(schemaOf("OpenAiTranscript")),
  "text/plain": plain,
  "text/vtt": plain,
  "text/event-stream": plain,
};

const texts: Record<keyof typeof openAiOperations, OpenAiText> = {
  createOpenAiTranscription: {
    summary: "Transcribe a recording, as OpenAI's API does",
    description: [
      "Waits for the transcript and answers with it. Meanwhile the recording has its place in the queue and counts against the " +
        "account's limits like any other. By default it is deleted with its audio when the transcript was delivered. A client that " +
        "disconnects cancels it, and its charge is refunded.",
      "While the account has no place for another recording, the request waits for one. Silence, and less than half a second of " +
        "audio, give an empty text.",
      "With `stream=true` the answer is a stream of server-sent events: `transcript.text.delta` as the text is recognized, for " +
        "`diarized_json` then `transcript.text.segment` for each segment, and at the end `transcript.text.done`. An event with " +
        "`error` ends a stream that fails. A comment follows every 15 seconds.",
    ].join("\n\n"),
    requestBody: { required: true, content: { "multipart/form-data": { schema: schemaOf("OpenAiForm") } } },
    success: {
      description: "The transcript in the requested format.",
      headers: apiHeaders(),
      content: textContent,
    },
    errors: [400, 404, 413, 415, 503],
  },
  createOpenAiTranslation: {
    summary: "Translate a recording to English, as OpenAI's API does",
    description:
      "Like a transcription, with the same parts and formats; the answer is in English. `language` is the spoken language. " +
      "English speech gives its transcript. With `stream=true` the text is sent when it is complete. A model that cannot " +
      "translate, such as large-v3-turbo or one for English alone, is 400 under `model`, with the models that can.",
    requestBody: { required: true, content: { "multipart/form-data": { schema: schemaOf("OpenAiForm") } } },
    success: {
      description: "The translation in the requested format.",
      headers: apiHeaders(),
      content: textContent,
    },
    errors: [400, 413, 415, 503],
  },
  listOpenAiModels: {
    summary: "List the models, as OpenAI's API does",
    description: "The installed models, and `whisper-1`, which means the model in use.",
    success: { description: "All models.", headers: apiHeaders(), content: jsonOf(schemaOf("OpenAiModelList")) },
    errors: [],
  },
  getOpenAiModel: {
    summary: "Get a model, as OpenAI's API does",
    description: "A model by the name that a transcription sends.",
    parameters: [
      {
        name: "model",
        in: "path",
        required: true,
        description: "Its name.",
        // A path with dot segments or backslashes is refused before it reaches the operation.
        schema: { type: "string", pattern: "^[^./\\\\][^/\\\\]*$" },
        example: "whisper-1",
      },
    ],
    success: { description: "The model.", headers: apiHeaders(), content: jsonOf(schemaOf("OpenAiModel")) },
    errors: [400, 404],
  },
};

/** The paths of OpenAI's audio API, relative to the server's root. */
export const openAiPaths: OpenAPIV3.PathsObject = Object.fromEntries(
  (Object.keys(texts) as (keyof typeof texts)[]).map((id) => {
    const operation: Operation = openAiOperations[id];
    const method = operation.method.toLowerCase() as Lowercase<Operation["method"]>;
    const item = { servers: [{ url: "/" }], [method]: describe(id, operation, texts[id]) };
    return [operation.path.replace(":model", "{model}"), item];
  }),
);

function describe(operationId: string, { scope }: Operation, text: OpenAiText): OpenAPIV3.OperationObject {
  const { summary, description, requestBody, parameters = [], success } = text;
  const needs =
    scope === null ? "Any key may do this." : `The key needs the scopes \`${scope}\` and \`transcriptions:read\`.`;
  return {
    operationId,
    summary,
    tags: ["OpenAI"],
    description: `${description}\n\n${needs} The path also works without \`/v1\`.`,
    parameters: [...parameters, parameter("RequestId")],
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: { ...(success === undefined ? {} : { 200: success }), ...errors([...COMMON, ...text.errors]) },
  };
}

function errors(statuses: readonly (keyof typeof meanings)[]): OpenAPIV3.ResponsesObject {
  return Object.fromEntries(
    statuses.map((status) => {
      const [description, ...headers]: readonly [string, ...HeaderName[]] = meanings[status];
      return [status, { description, headers: apiHeaders(...headers), content: jsonOf(schemaOf("OpenAiError")) }];
    }),
  );
}
