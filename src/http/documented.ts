/**
 * Values that the API's description shows for a schema, in addition to those that validation uses or instead of them.
 * They are the annotation `documented` of a TypeBox schema.
 */
export interface Documented {
  readonly description?: string;
  readonly example?: unknown;
  readonly format?: string;
}

/** Returns the annotation for the options of a schema. */
export function documented(values: Documented): { readonly documented: Documented } {
  return { documented: values };
}
