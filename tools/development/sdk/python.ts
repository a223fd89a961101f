import {
  type ApiDescription,
  type Definition,
  type Field,
  type OperationDefinition,
  type Parameter,
  typeWriter,
  wrap,
} from "./describe-api.ts";

const LINE_WIDTH = 100;
const notice = "# scripts/sdk generates this file from the API's OpenAPI document.";

/** Returns the module with the types of the API. */
export function pythonTypes({ definitions, version, basePath }: ApiDescription): string {
  const head = `${notice}
"""The types of the API. Answers are dictionaries of these types."""

from typing import Dict, List, Literal, Optional, TypedDict

from ._recording_file import RecordingFile

VERSION = "${version}"
"""Version of this package and of the program whose API it describes."""

BASE_PATH = "${basePath}"
"""Path of the API on a server."""
`;
  let text = head;
  let isClass = false;
  for (const each of definitions) {
    const isNextClass = "fields" in each;
    text += `${isClass || isNextClass ? "\n\n" : "\n"}${definition(each)}\n`;
    isClass = isNextClass;
  }
  return text;
}

/** Returns the module with a class that has a method for each operation. */
export function pythonOperations({ operations }: ApiDescription): string {
  const types = operations.flatMap(({ form, body, answer, pathParameters, parameters }) => [
    ...(form === null ? [] : [form]),
    ...(body === null ? [] : [body]),
    ...(answer.kind === "json" ? [answer.type] : []),
    ...[...pathParameters, ...parameters].flatMap(({ shape }) => (shape.kind === "named" ? [shape.name] : [])),
  ]);
  const names = [...new Set(types)].sort();
  const head = `${notice}
"""The operations of the API, one request each."""

from typing import Optional, cast
from urllib.parse import quote

from ._transport import NO_STOP, Download, Request, Stop, Transport
from .types import (
${names.map((name) => `    ${name},\n`).join("")})


class Operations:
    """The operations of the API, one request each."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
`;
  return `${head}\n${operations.map(method).join("\n")}`;
}

function definition(described: Definition): string {
  const { name, description } = described;
  if (!("fields" in described)) {
    const line = `${name} = ${typeOf(described.shape)}`;
    const text = description === "" ? "" : `\n${docstring(description, "")}`;
    if (line.length <= LINE_WIDTH || described.shape.kind !== "choice") return `${line}${text}`;
    const values = described.shape.values.map((value) => `    ${literal(value)},\n`).join("");
    return `${name} = Literal[\n${values}]${text}`;
  }
  const required = described.fields.filter(({ isRequired }) => isRequired);
  const optional = described.fields.filter(({ isRequired }) => !isRequired);
  if (optional.length === 0) return typedDict(name, "TypedDict", description, required);
  if (required.length === 0) return typedDict(name, "TypedDict, total=False", description, optional);
  // NotRequired is not in Python 3.9.
  const base = typedDict(`_${name}`, "TypedDict", "", required);
  return `${base}\n\n\n${typedDict(name, `_${name}, total=False`, description, optional)}`;
}

function typedDict(name: string, base: string, description: string, fields: readonly Field[]): string {
  const text = description === "" ? [] : [docstring(description, "    "), ""];
  const members = fields.flatMap((field) => [
    `    ${field.name}: ${typeOf(field.shape)}`,
    ...(field.description === "" ? [] : [docstring(field.description, "    ")]),
  ]);
  return [`class ${name}(${base}):`, ...text, ...members].join("\n");
}

const typeOf = typeWriter({
  plain: { text: "str", integer: "int", number: "float", boolean: "bool", binary: "RecordingFile" },
  choice: (values) => `Literal[${values.map(literal).join(", ")}]`,
  around: {
    list: (type) => `List[${type}]`,
    map: (type) => `Dict[str, ${type}]`,
    nullable: (type) => `Optional[${type}]`,
  },
});

function literal(value: string | boolean): string {
  return typeof value === "boolean" ? (value ? "True" : "False") : JSON.stringify(value);
}

function method(operation: OperationDefinition): string {
  const { id, summary, errorCodes, pathParameters, parameters, form, body, answer } = operation;
  const args = [
    "self",
    ...pathParameters.map(({ name, shape }) => `${name}: ${typeOf(shape)}`),
    ...(form === null ? [] : [`form: ${form}`]),
    ...(body === null ? [] : [`body: ${body}`]),
    "*",
    ...parameters.map(argument),
    "stop: Stop = NO_STOP",
  ];
  const returned = answer.kind === "json" ? answer.type : { nothing: "None", file: "Download" }[answer.kind];
  const described = parameters.filter(({ description }) => description !== "");
  const lines = described.map(({ name, description }) => `${name}: ${description}`);
  const text = [`${summary}.`, "", ...lines, ...(lines.length > 0 ? [""] : [])].join("\n");
  const codes = `Error codes: ${errorCodes.map((code) => `\`${code}\``).join(", ")}.`;
  const call = `self._transport.${answer.kind}(request, stop)`;
  return [
    `    def ${snakeCase(id)}(\n${args.map((arg) => `        ${arg},\n`).join("")}    ) -> ${returned}:`,
    docstring(`${text}${codes}`, "        "),
    "        request = Request(",
    ...requestLines(operation).map((line) => `            ${line},`),
    "        )",
    answer.kind === "json"
      ? `        return cast(${returned}, ${call})`
      : `        ${answer.kind === "file" ? "return " : ""}${call}`,
    "",
  ].join("\n");
}

function argument({ name, shape, isRequired }: Parameter): string {
  return isRequired ? `${name}: ${typeOf(shape)}` : `${name}: Optional[${typeOf(shape)}] = None`;
}

function requestLines({ method: verb, path, pathParameters, parameters, form, body }: OperationDefinition): string[] {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `{quote(str(${name}), safe='')}`);
  const group = (place: string) =>
    parameters
      .filter((parameter) => parameter.place === place)
      .map(({ name, wireName }) => `                ${JSON.stringify(wireName)}: ${name},\n`)
      .join("");
  const dictionaries = (["query", "header"] as const).flatMap((place) => {
    const values = group(place);
    return values === "" ? [] : [`${place === "query" ? "query" : "headers"}={\n${values}            }`];
  });
  return [
    `method=${JSON.stringify(verb)}`,
    `path=${pathParameters.length > 0 ? `f"${filled}"` : JSON.stringify(path)}`,
    ...dictionaries,
    ...(form === null ? [] : ["form=form"]),
    ...(body === null ? [] : ["body=body"]),
  ];
}

function docstring(text: string, indent: string): string {
  const safe = text.replaceAll("\\", "\\\\").replaceAll('"""', '\\"\\"\\"');
  const one = `${indent}"""${safe}"""`;
  if (one.length <= LINE_WIDTH && !safe.includes("\n")) return one;
  const lines = wrap(`"""${safe}`, LINE_WIDTH - indent.length);
  return [...lines.map((line) => `${indent}${line}`.trimEnd()), `${indent}"""`].join("\n");
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
