import {
  type ApiDescription,
  type Definition,
  type Field,
  type OperationDefinition,
  pascalCase,
  type Shape,
  typeWriter,
  wrap,
} from "./describe-api.ts";

const LINE_WIDTH = 120;
const notice = "// scripts/sdk generates this file from the API's OpenAPI document.";

/** Returns the module with the types of the API. */
export function typescriptTypes({ definitions, operations, version, basePath }: ApiDescription): string {
  const constants = [
    "/** Version of this package and of the program whose API it describes. */",
    `export const version = "${version}";`,
    "",
    "/** Path of the API on a server. */",
    `export const basePath = "${basePath}";`,
  ].join("\n");
  const sent = operations.flatMap(({ form, body }) => [form, body]);
  const types = definitions.map((each) => definition(each, sent.includes(each.name) ? " | undefined" : ""));
  const parts = [...types, ...operations.flatMap(parametersType)];
  const usesFile = 'import type { RecordingFile } from "./recording-file.ts";';
  return `${[`${notice}\n${usesFile}`, constants, ...parts].join("\n\n")}\n`;
}

/** Returns the module with a class that has a method for each operation. */
export function typescriptOperations({ operations }: ApiDescription): string {
  const types = operations.flatMap(({ id, pathParameters, parameters, form, body, answer }) => [
    ...pathParameters.flatMap(({ shape }) => (shape.kind === "named" ? [shape.name] : [])),
    ...(parameters.length > 0 ? [`${pascalCase(id)}Parameters`] : []),
    ...(form === null ? [] : [form]),
    ...(body === null ? [] : [body]),
    ...(answer.kind === "json" ? [answer.type] : []),
  ]);
  // In the order of the formatter, which ignores case.
  const names = [...new Set(types)].sort((one, other) => (one.toLowerCase() < other.toLowerCase() ? -1 : 1));
  const head = [
    notice,
    'import type { CallOptions, Download, Transport, UploadOptions } from "./transport.ts";',
    `import type {\n${names.map((name) => `  ${name},\n`).join("")}} from "./types.ts";`,
  ].join("\n");
  const begin = `/** The operations of the API, one request each. */
export class Operations {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }`;
  return `${head}\n\n${[begin, ...operations.map(method)].join("\n\n")}\n}\n`;
}

/** @param absent added to the types of optional fields, so that a program may pass undefined for them */
function definition(described: Definition, absent: string): string {
  const { name, description } = described;
  const text = description === "" ? "" : `${comment(description, "")}\n`;
  if (!("fields" in described)) return `${text}export type ${name} =${declared(described.shape)};`;
  return `${text}export interface ${name} {\n${described.fields.map((field) => member(field, absent)).join("\n")}\n}`;
}

/** Returns a shape as the right side of a declaration, a choice that is too long on lines of its own. */
function declared(shape: Shape): string {
  const line = ` ${typeOf(shape)}`;
  if (shape.kind !== "choice" || line.length < LINE_WIDTH - 40) return line;
  return shape.values.map((value) => `\n  | ${JSON.stringify(value)}`).join("");
}

function parametersType({ id, parameters }: OperationDefinition): string[] {
  if (parameters.length === 0) return [];
  const members = parameters.map((parameter) => member(parameter, " | undefined"));
  return [
    `/** Parameters of {@link Operations.${id}}. */\nexport interface ${pascalCase(id)}Parameters {\n${members.join("\n")}\n}`,
  ];
}

function member({ name, shape, isRequired, description }: Field, absent: string): string {
  const text = description === "" ? "" : `${comment(description, "  ")}\n`;
  return `${text}  ${name}${isRequired ? "" : "?"}: ${typeOf(shape)}${isRequired ? "" : absent};`;
}

const typeOf = typeWriter({
  plain: { text: "string", integer: "number", number: "number", boolean: "boolean", binary: "RecordingFile" },
  choice: (values) => values.map((value) => JSON.stringify(value)).join(" | "),
  around: {
    list: (type) => `${type}[]`,
    map: (type) => `Record<string, ${type}>`,
    nullable: (type) => `${type} | null`,
  },
});

function method(operation: OperationDefinition): string {
  const { id, summary, errorCodes, pathParameters, parameters, form, body, answer } = operation;
  const isNeeded = parameters.some(({ isRequired }) => isRequired);
  const args = [
    ...pathParameters.map(({ name, shape }) => `${name}: ${typeOf(shape)}`),
    ...(form === null ? [] : [`form: ${form}`]),
    ...(body === null ? [] : [`body: ${body}`]),
    ...(parameters.length === 0 ? [] : [`parameters: ${pascalCase(id)}Parameters${isNeeded ? "" : " = {}"}`]),
    `call: ${form === null ? "CallOptions" : "UploadOptions"} = {}`,
  ];
  const type = answer.kind === "json" ? `<${answer.type}>` : "";
  const returned = answer.kind === "json" ? answer.type : { nothing: "void", file: "Download" }[answer.kind];
  const text = comment(`${summary}.\n\nError codes: ${errorCodes.map((code) => `\`${code}\``).join(", ")}.`, "  ");
  return [
    text,
    signature(id, args, returned),
    `    return this.#transport.${answer.kind}${type}(`,
    `      {\n${requestLines(operation)
      .map((line) => `        ${line},\n`)
      .join("")}      },`,
    "      call,",
    "    );",
    "  }",
  ].join("\n");
}

function signature(id: string, args: readonly string[], returned: string): string {
  const line = `  ${id}(${args.join(", ")}): Promise<${returned}> {`;
  if (line.length <= LINE_WIDTH) return line;
  return `  ${id}(\n${args.map((arg) => `    ${arg},\n`).join("")}  ): Promise<${returned}> {`;
}

function requestLines({ method: verb, path, pathParameters, parameters, form, body }: OperationDefinition): string[] {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `\${encodeURIComponent(${name})}`);
  const values = (place: string) =>
    parameters
      .filter((parameter) => parameter.place === place)
      .map(
        ({ name, wireName }) => `${/^\w+$/.test(wireName) ? wireName : JSON.stringify(wireName)}: parameters.${name}`,
      );
  const groups = (["query", "header"] as const).flatMap((place) => {
    const found = values(place);
    const name = place === "query" ? "query" : "headers";
    if (found.length === 0) return [];
    const line = `${name}: { ${found.join(", ")} }`;
    if (line.length <= LINE_WIDTH - 9) return [line];
    return [`${name}: {\n${found.map((value) => `          ${value},\n`).join("")}        }`];
  });
  return [
    `method: ${JSON.stringify(verb)}`,
    `path: ${pathParameters.length > 0 ? `\`${filled}\`` : JSON.stringify(path)}`,
    ...groups,
    ...(form === null ? [] : ["form"]),
    ...(body === null ? [] : ["body"]),
  ];
}

function comment(text: string, indent: string): string {
  const safe = text.replaceAll("*/", "*\\/");
  const one = `${indent}/** ${safe} */`;
  if (one.length <= LINE_WIDTH && !safe.includes("\n")) return one;
  const lines = wrap(safe, LINE_WIDTH - indent.length - 3);
  return [`${indent}/**`, ...lines.map((line) => `${indent} * ${line}`.trimEnd()), `${indent} */`].join("\n");
}
