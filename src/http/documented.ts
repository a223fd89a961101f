/**
 * What a schema says of itself in the API's description beyond what is checked by it, or in other words: the annotation
 * `documented` of a TypeBox schema.
 */
export interface Documented {
  readonly description?: string;
  readonly example?: unknown;
  readonly format?: string;
}

/** The annotation, for the options of a schema. */
export function documented(values: Documented): { readonly documented: Documented } {
  return { documented: values };
}
