import type { InstalledModel } from "./library.ts";

/** Facts that the advice needs of a model in the catalogue. */
interface PublishedModel {
  readonly id: string;
  readonly sha256?: string;
}

/** The models that the coordinator of a fleet knows. */
interface KnownModels {
  readonly catalogue: readonly PublishedModel[];
  readonly installed: readonly Pick<InstalledModel, "id" | "sha256" | "inCatalogue">[];
}

/**
 * Returns the problem of a worker that lacks models of the coordinator, and the commands that install them there. A model
 * that is not in the catalogue cannot be downloaded: the worker imports the file that the coordinator imported.
 */
export function lackingModelsText(digests: readonly string[], { catalogue, installed }: KnownModels): string {
  const models = digests.map((sha256) => {
    const own = installed.find((model) => model.sha256 === sha256);
    const published = catalogue.find((model) => model.sha256 === sha256);
    const id = own?.id ?? published?.id;
    const name = id ?? `with the digest ${sha256.slice(0, 12)}`;
    return { name, pull: published?.id ?? (own?.inCatalogue === true ? own.id : null) };
  });
  const pulls = models.flatMap(({ pull }) => pull ?? []);
  const imports = models.filter(({ pull }) => pull === null).map(({ name }) => `the model ${name}`);
  const commands = [
    ...(pulls.length === 0 ? [] : [`transcribe models pull ${pulls.join(" ")}`]),
    ...(imports.length === 0
      ? []
      : [`transcribe models import FILE, with the file from which the coordinator got ${imports.join(", ")}`]),
  ];
  return `it lacks the model ${models.map(({ name }) => name).join(", ")}; run on it: ${commands.join("; ")}`;
}
