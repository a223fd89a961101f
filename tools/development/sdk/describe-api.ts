import type { OpenAPIV3 } from "openapi-types";

/** A type in a form that every language of the client packages has. */
export type Shape =
  | { readonly kind: "text" | "integer" | "number" | "boolean" | "binary" }
  | { readonly kind: "choice"; readonly values: readonly (string | boolean)[] }
  | { readonly kind: "list" | "map"; readonly items: Shape }
  | { readonly kind: "nullable"; readonly of: Shape }
  | { readonly kind: "named"; readonly name: string };

export interface Field {
  readonly name: string;
  readonly shape: Shape;
  readonly isRequired: boolean;
  readonly description: string;
}

/** A type with a name: an object with fields, or another shape. */
export type Definition = { readonly name: string; readonly description: string } & (
  | { readonly fields: readonly Field[] }
  | { readonly shape: Shape }
);

export interface Parameter extends Field {
  readonly place: "query" | "header";
  /** The name in requests; `name` is the name in programs. */
  readonly wireName: string;
}

/** Content of a successful answer: a JSON value, nothing, or a file. The transports have a method for each kind. */
export type Answer = { readonly kind: "json"; readonly type: string } | { readonly kind: "nothing" | "file" };

export interface OperationDefinition {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly errorCodes: readonly string[];
  /** The parameters in the path. */
  readonly pathParameters: readonly Pick<Field, "name" | "shape">[];
  readonly parameters: readonly Parameter[];
  /** Name of the type of the multipart form, or null. */
  readonly form: string | null;
  /** Name of the type of the body in JSON, or null. */
  readonly body: string | null;
  readonly answer: Answer;
}

export interface ApiDescription {
  readonly version: string;
  /** Path of the API on a server. */
  readonly basePath: string;
  readonly definitions: readonly Definition[];
  readonly operations: readonly OperationDefinition[];
}

/** Names in programs, where the names in the document are long or would shadow a global. */
const NAMES: Readonly<Record<string, string>> = {
  Error: "ErrorEnvelope",
  ErrorEnvelopeError: "ErrorCode",
  ExportTranscriptionFormat: "ExportFormat",
  ExportTranscriptionAsFormat: "FileFormat",
  ExportTranscriptionAsSpeakers: "SpeakerStyle",
  ExportTranscriptionAsText: "TextName",
  TranscriptionFormTask: "Task",
};
/** Tags of the operations that the client packages have. */
const TAGS: ReadonlySet<string> = new Set(["API", "Editing", "Exports", "Translation"]);
/** A create comes first, because its types give the types of lists their names. */
const METHODS = ["post", "get", "put", "patch", "delete"] as const;

/** Returns the operations with one of `TAGS` and the types that they need, each type before the types that use it. */
export function describeApi(document: OpenAPIV3.Document): ApiDescription {
  const reader = new Reader(document);
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item?.[method];
      if (operation?.tags?.some((tag) => TAGS.has(tag)) !== true) return [];
      return [reader.operation(method, path, operation, item?.parameters ?? [])];
    }),
  );
  reader.named("Error");
  const { definitions } = reader;
  return { version: document.info.version, basePath: document.servers?.[0]?.url ?? "", definitions, operations };
}

/** Reads schemas and remembers the definitions that they need. */
class Reader {
  readonly definitions: Definition[] = [];
  readonly #document: OpenAPIV3.Document;
  readonly #known = new Set<string>();
  /** Names of the types of properties, by their schemas: equal properties of two types share a type. */
  readonly #inline = new Map<string, string>();

  constructor(document: OpenAPIV3.Document) {
    this.#document = document;
  }

  operation(
    method: string,
    path: string,
    { operationId = "", summary = "", parameters = [], requestBody, responses }: OpenAPIV3.OperationObject,
    shared: NonNullable<OpenAPIV3.PathItemObject["parameters"]>,
  ): OperationDefinition {
    const all = [...shared, ...parameters].map((parameter) => this.#resolve(parameter));
    const contents = requestBody === undefined ? {} : this.#resolve(requestBody).content;
    const typeIn = (mediaType: string) => {
      const schema = contents[mediaType]?.schema;
      return schema === undefined ? null : nameOf(this.#shape(schema, ""));
    };
    return {
      id: operationId,
      method: method.toUpperCase(),
      path,
      summary,
      errorCodes: this.#errorCodes(responses),
      pathParameters: all
        .filter((parameter) => parameter.in === "path")
        .map(({ name, schema = {} }) => ({
          name,
          shape: this.#shape(schema, pascalCase(operationId) + pascalCase(name)),
        })),
      parameters: all.flatMap((parameter) => this.#parameter(operationId, parameter)),
      form: typeIn("multipart/form-data"),
      body: typeIn("application/json"),
      answer: this.#answer(responses),
    };
  }

  /** Defines the schema with this name in the document. @returns its name in programs */
  named(name: string): string {
    const known = NAMES[name] ?? name;
    const schema = this.#document.components?.schemas?.[name];
    if (schema === undefined) throw new Error(`the document has no schema ${name}`);
    if (!this.#known.has(known)) this.#define(known, this.#resolve(schema));
    return known;
  }

  #define(name: string, schema: OpenAPIV3.SchemaObject): void {
    this.#known.add(name);
    const { description = "", properties } = schema;
    if (properties === undefined) {
      this.definitions.push({ name, description, shape: this.#plainShape(schema, name) });
      return;
    }
    const fields = Object.entries(properties).map(([field, property]) => ({
      name: field,
      shape: this.#shape(property, name + pascalCase(field)),
      isRequired: schema.required?.includes(field) ?? false,
      description: "$ref" in property ? "" : (property.description ?? ""),
    }));
    this.definitions.push({ name, description, fields });
  }

  /** @param name a name for the type, if it needs one */
  #shape(schema: OpenAPIV3.ReferenceObject | OpenAPIV3.SchemaObject, name: string): Shape {
    if ("$ref" in schema) return { kind: "named", name: this.named(lastPart(schema.$ref)) };
    const shape = this.#plainShape(schema, name);
    return schema.nullable === true ? { kind: "nullable", of: shape } : shape;
  }

  #plainShape(schema: OpenAPIV3.SchemaObject, name: string): Shape {
    const choices: unknown[] | undefined = schema.enum;
    if (choices !== undefined) {
      const shape: Shape = {
        kind: "choice",
        values: choices.filter((value) => typeof value === "string" || typeof value === "boolean"),
      };
      if (this.#known.has(name) || shape.values.length < 2) return shape;
      return this.#once(JSON.stringify(shape), name, (known) => {
        this.definitions.push({ name: known, description: "", shape });
      });
    }
    if (schema.type === "array") return { kind: "list", items: this.#shape(schema.items, name) };
    if (schema.type === "object" && schema.properties !== undefined) {
      return this.#once(JSON.stringify(schema), name, (known) => this.#define(known, schema));
    }
    if (schema.type === "object" && typeof schema.additionalProperties === "object") {
      return { kind: "map", items: this.#shape(schema.additionalProperties, name) };
    }
    if (schema.type === "string") return { kind: schema.format === "binary" ? "binary" : "text" };
    if (schema.type === "integer" || schema.type === "number" || schema.type === "boolean")
      return { kind: schema.type };
    throw new Error(`no shape is known for ${JSON.stringify(schema)}`);
  }

  /** Defines the type of a property, unless an equal one is defined. */
  #once(content: string, name: string, define: (name: string) => void): Shape {
    const known = this.#inline.get(content) ?? NAMES[name] ?? name;
    if (!this.#inline.has(content)) define(known);
    this.#inline.set(content, known);
    return { kind: "named", name: known };
  }

  #parameter(operationId: string, parameter: OpenAPIV3.ParameterObject): Parameter[] {
    const { name: wireName, in: place, required = false, description = "", schema = {} } = parameter;
    if (place !== "query" && place !== "header") return [];
    const name = wireName.toLowerCase().replace(/^x-/, "").replaceAll("-", "_");
    const shape = this.#shape(schema, pascalCase(operationId) + pascalCase(name));
    return [{ name, wireName, place, shape, isRequired: required, description }];
  }

  #answer(responses: OpenAPIV3.ResponsesObject): Answer {
    const [status] = Object.keys(responses).filter((code) => code.startsWith("2"));
    const content = Object.entries(this.#resolve(responses[status ?? ""] ?? { description: "" }).content ?? {});
    if (content.length === 0) return { kind: "nothing" };
    const [[mediaType, { schema = {} }] = ["", {}], ...others] = content;
    if (mediaType !== "application/json" || others.length > 0) return { kind: "file" };
    return { kind: "json", type: nameOf(this.#shape(schema, "")) };
  }

  #errorCodes(responses: OpenAPIV3.ResponsesObject): string[] {
    return Object.entries(responses).flatMap(([status, response]) => {
      if (status < "400") return [];
      const schema = this.#resolve(this.#resolve(response).content?.["application/json"]?.schema ?? {});
      const codes: unknown[] = this.#resolve(schema.properties?.error ?? {}).enum ?? [];
      return codes.filter((code) => typeof code === "string");
    });
  }

  /** Follows a reference. The document is our own, so the type of its target is the type of the place. */
  #resolve<T extends object>(value: T | OpenAPIV3.ReferenceObject): T {
    if (!("$ref" in value)) return value;
    let found: unknown = this.#document;
    for (const part of value.$ref.split("/").slice(1)) found = (found as Record<string, unknown>)[part];
    if (found === undefined) throw new Error(`the document has no ${value.$ref}`);
    return found as T;
  }
}

function nameOf(shape: Shape): string {
  if (shape.kind === "named") return shape.name;
  throw new Error("a form and an answer in JSON need a type with a name");
}

function lastPart(reference: string): string {
  return reference.split("/").at(-1) ?? "";
}

/** Converts `failure_reason` and `listSegments` to `FailureReason` and `ListSegments`. */
export function pascalCase(name: string): string {
  return name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Breaks a text into lines of at most `width` characters, between words. Line breaks of the text are preserved. */
export function wrap(text: string, width: number): string[] {
  return text.split("\n").flatMap((paragraph) => {
    const lines: string[] = [];
    let line = "";
    for (const word of paragraph.split(" ")) {
      if (line !== "" && line.length + 1 + word.length > width) {
        lines.push(line);
        line = "";
      }
      line = line === "" ? word : `${line} ${word}`;
    }
    return [...lines, line];
  });
}

/** How a language writes the types of shapes. */
interface TypeForms {
  readonly plain: Readonly<Record<"text" | "integer" | "number" | "boolean" | "binary", string>>;
  readonly choice: (values: readonly (string | boolean)[]) => string;
  readonly around: Readonly<Record<"list" | "map" | "nullable", (type: string) => string>>;
}

/** Returns a function that writes the type of a shape. */
export function typeWriter({ plain, choice, around }: TypeForms): (shape: Shape) => string {
  const write = (shape: Shape): string => {
    if (shape.kind === "named") return shape.name;
    if (shape.kind === "choice") return choice(shape.values);
    if (shape.kind === "nullable") return around.nullable(write(shape.of));
    return "items" in shape ? around[shape.kind](write(shape.items)) : plain[shape.kind];
  };
  return write;
}
