import { type TObject, type TSchema, TypeGuard } from "@sinclair/typebox";
import type { OpenAPIV3 } from "openapi-types";
import { isOptional } from "../../shared/query.ts";

export type Schema = OpenAPIV3.SchemaObject | OpenAPIV3.ReferenceObject;

/** Keywords of a TypeBox schema that have the same name in OpenAPI 3.0. */
const sharedKeywords = [
  "description",
  "example",
  "default",
  "format",
  "pattern",
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "minItems",
  "maxItems",
] as const;

/**
 * Replaces a schema that the document defines once under a name by a reference, and returns other schemas unchanged.
 */
type Refer = (schema: Schema) => Schema;

/**
 * Converts a TypeBox schema to OpenAPI 3.0: without `const`, a choice of texts as `enum`, null as `nullable`. The
 * annotation `documented` of a schema has keywords that the document shows in addition, or instead of those that
 * validation uses.
 * @throws an Error for a kind of schema that no resource has used so far
 */
export function toOpenApi(schema: TSchema, refer: Refer = (same) => same): Schema {
  return refer({ ...shapeOf(schema, refer), ...keywordsOf(schema), ...schema.documented });
}

function shapeOf(schema: TSchema, refer: Refer): OpenAPIV3.SchemaObject {
  if (TypeGuard.IsUnion(schema)) return choiceOf(schema.anyOf, refer);
  if (TypeGuard.IsLiteral(schema)) {
    return { type: typeof schema.const === "boolean" ? "boolean" : "string", enum: [schema.const] };
  }
  if (TypeGuard.IsObject(schema)) return objectOf(schema, refer);
  if (TypeGuard.IsArray(schema)) return { type: "array", items: toOpenApi(schema.items, refer) };
  if (TypeGuard.IsRecord(schema)) {
    const [values] = Object.values(schema.patternProperties);
    return { type: "object", additionalProperties: values === undefined ? true : toOpenApi(values, refer) };
  }
  if (TypeGuard.IsString(schema)) return { type: "string" };
  if (TypeGuard.IsInteger(schema)) return { type: "integer" };
  if (TypeGuard.IsNumber(schema)) return { type: "number" };
  if (TypeGuard.IsBoolean(schema)) return { type: "boolean" };
  throw new Error(`no OpenAPI form is known for ${JSON.stringify(schema)}`);
}

function objectOf(schema: TObject, refer: Refer): OpenAPIV3.SchemaObject {
  const properties = Object.entries(schema.properties);
  const required = properties.filter(([, property]) => !isOptional(property)).map(([name]) => name);
  return {
    type: "object",
    ...(required.length > 0 ? { required } : {}),
    properties: Object.fromEntries(properties.map(([name, property]) => [name, toOpenApi(property, refer)])),
  };
}

function choiceOf(choices: readonly TSchema[], refer: Refer): OpenAPIV3.SchemaObject {
  const values = choices.flatMap((choice) => (TypeGuard.IsUnion(choice) ? choice.anyOf : [choice]));
  const present = values.filter((value) => !TypeGuard.IsNull(value));
  const isNullable = present.length < values.length;
  if (present.every((value) => TypeGuard.IsLiteral(value))) {
    const texts = present.map((value) => value.const);
    // `nullable` alone allows null in the type but not in the enum.
    return { type: "string", enum: isNullable ? [...texts, null] : texts, ...(isNullable ? { nullable: true } : {}) };
  }
  const [only] = present;
  if (only === undefined || present.length > 1) throw new Error("no OpenAPI form is known for this choice");
  return { ...shapeOf(only, refer), ...keywordsOf(only), ...(isNullable ? { nullable: true } : {}) };
}

function keywordsOf(schema: TSchema): Record<string, unknown> {
  return Object.fromEntries(sharedKeywords.flatMap((name) => (name in schema ? [[name, schema[name]]] : [])));
}

/** Returns the parameters of a query, from the schema that parses it. */
export function queryParameters(schema: TObject, refer: Refer): OpenAPIV3.ParameterObject[] {
  return Object.entries(schema.properties).map(([name, property]) => {
    const { description, example, ...rest } = toOpenApi(property, refer) as OpenAPIV3.SchemaObject;
    return {
      name,
      in: "query",
      required: !isOptional(property),
      ...(description === undefined ? {} : { description }),
      ...(example === undefined ? {} : { example }),
      schema: rest,
    };
  });
}
