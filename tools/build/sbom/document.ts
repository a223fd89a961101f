import { createHash } from "node:crypto";
import { type Static, type TProperties, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

// The part of CycloneDX 1.6 (ECMA-424) that this product writes. Names are those of the standard.

const object = <T extends TProperties>(fields: T) => Type.Object(fields, { additionalProperties: false });
const text = Type.String({ minLength: 1 });
const uri = Type.String({ pattern: "^(https|git\\+https):\\/\\/[^\\s]+$" });

const hashSchema = Type.Union([
  object({ alg: Type.Literal("SHA-256"), content: Type.String({ pattern: "^[0-9a-f]{64}$" }) }),
  object({ alg: Type.Literal("SHA-512"), content: Type.String({ pattern: "^[0-9a-f]{128}$" }) }),
]);

/** Either any number of single licences, or exactly one expression. */
const licencesSchema = Type.Union([
  Type.Array(object({ license: Type.Union([object({ id: text }), object({ name: text })]) }), { minItems: 1 }),
  Type.Tuple([object({ expression: text })]),
]);

const propertySchema = object({ name: text, value: Type.String() });

const componentFields = {
  type: Type.Union(
    (["application", "library", "container", "platform", "file", "machine-learning-model", "data"] as const).map(
      (name) => Type.Literal(name),
    ),
  ),
  "bom-ref": text,
  name: text,
  version: Type.Optional(text),
  description: Type.Optional(text),
  hashes: Type.Optional(Type.Array(hashSchema, { minItems: 1 })),
  licenses: Type.Optional(licencesSchema),
  purl: Type.Optional(Type.String({ pattern: "^pkg:[a-z]+/[^\\s]+$" })),
  pedigree: Type.Optional(object({ notes: text })),
  externalReferences: Type.Optional(
    Type.Array(
      object({
        url: uri,
        type: Type.Union([Type.Literal("vcs"), Type.Literal("website"), Type.Literal("source-distribution")]),
      }),
      { minItems: 1 },
    ),
  ),
  properties: Type.Optional(Type.Array(propertySchema, { minItems: 1 })),
};
const leafSchema = object(componentFields);
const componentSchema = object({ ...componentFields, components: Type.Optional(Type.Array(leafSchema)) });

/** A part of a product. Its own parts are files and libraries without parts. */
export type Component = Static<typeof componentSchema>;

const bomSchema = object({
  bomFormat: Type.Literal("CycloneDX"),
  specVersion: Type.Literal("1.6"),
  serialNumber: Type.String({ pattern: "^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$" }),
  version: Type.Literal(1),
  metadata: object({
    timestamp: Type.Optional(Type.String({ pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ$" })),
    component: leafSchema,
  }),
  components: Type.Array(componentSchema, { minItems: 1 }),
  dependencies: Type.Array(object({ ref: text, dependsOn: Type.Optional(Type.Array(text, { uniqueItems: true })) })),
  compositions: Type.Array(object({ aggregate: Type.Literal("incomplete"), assemblies: Type.Array(text) })),
});

/** A bill of materials of this product: a CycloneDX 1.6 document. */
export type Bom = Static<typeof bomSchema>;

/** The contents of a bill of materials; components and dependencies in any order. */
export interface BomContents {
  /** Time of the commit; undefined when the checkout differs from it. */
  readonly timestamp: string | undefined;
  readonly product: Component;
  readonly components: readonly Component[];
  /** References that each reference needs. */
  readonly dependencies: ReadonlyMap<string, readonly string[]>;
  /** Components whose own parts are not all known. */
  readonly incomplete: readonly string[];
}

/**
 * Writes a bill of materials as JSON. The same contents always give the same bytes: everything is sorted, and the serial
 * number is derived from the contents.
 * @throws {Error} when the document is not valid
 */
export function writeBom({ timestamp, product, components, dependencies, incomplete }: BomContents): string {
  const contents = {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: timestamp === undefined ? { component: product } : { timestamp, component: product },
    components: components.toSorted((a, b) => order(a["bom-ref"], b["bom-ref"])),
    dependencies: [...dependencies]
      .map(([ref, needs]) => (needs.length === 0 ? { ref } : { ref, dependsOn: [...new Set(needs)].sort(order) }))
      .sort((a, b) => order(a.ref, b.ref)),
    compositions: [{ aggregate: "incomplete", assemblies: incomplete.toSorted(order) }],
  };
  const bom = { ...contents, serialNumber: `urn:uuid:${uuidOf(JSON.stringify(contents))}` };
  return `${JSON.stringify(checkBom(bom), null, 2)}\n`;
}

/**
 * Checks a document against the part of CycloneDX 1.6 that this product writes, and its references.
 * @throws {Error} with the first fault
 */
export function checkBom(value: unknown): Bom {
  const bom = parse(bomSchema, value);
  const all = [
    bom.metadata.component,
    ...bom.components.flatMap(({ components = [], ...own }) => [own, ...components]),
  ];
  const references = all.map((component) => component["bom-ref"]);
  const known = new Set(references);
  const twice = references.find((ref, index) => references.indexOf(ref) !== index);
  if (twice !== undefined) throw new Error(`the bill of materials has the reference ${twice} twice`);
  const used = [
    ...bom.dependencies.flatMap(({ ref, dependsOn = [] }) => [ref, ...dependsOn]),
    ...bom.compositions.flatMap(({ assemblies }) => assemblies),
  ];
  const unknown = used.find((ref) => !known.has(ref));
  if (unknown !== undefined) throw new Error(`the bill of materials refers to ${unknown}, which it does not contain`);
  return bom;
}

function parse<T extends TSchema>(schema: T, value: unknown): Static<T> {
  if (Value.Check(schema, value)) return value;
  const first = Value.Errors(schema, value).First();
  throw new Error(`the bill of materials is invalid: ${first?.path || "/"}: ${first?.message}`);
}

/** Returns a UUID of version 8 (RFC 9562, section 5.8) made from the digest of a text. */
function uuidOf(content: string): string {
  const bytes = createHash("sha256").update(content).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

function order(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
