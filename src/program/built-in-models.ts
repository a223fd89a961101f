import catalogue from "../../models/catalog.json" with { type: "json" };

/** A model that comes with the program. */
export interface BuiltInModel {
  readonly id: string;
  readonly file: string;
  /** Title for people. */
  readonly title: string;
  readonly licence: string;
  readonly homepage: string;
}

/** The models that come with the program, one of each kind, as marked in the catalogue. */
export const builtInModels: Readonly<Record<"speech" | "segmentation" | "embedding", BuiltInModel>> = {
  speech: builtIn("speech"),
  segmentation: builtIn("segmentation"),
  embedding: builtIn("embedding"),
};

function builtIn(kind: string): BuiltInModel {
  const [model, ...others] = catalogue.models.filter((each) => each.builtIn === true && each.kind === kind);
  if (model?.title === undefined || model.homepage === undefined || others.length > 0) {
    throw new Error(`models/catalog.json has not one built-in ${kind} model with title and homepage`);
  }
  return { ...model, title: model.title, homepage: model.homepage };
}
