import { familyOf } from "../speech/index.ts";

/** Returns the licence of the family of a model's file; null if it has none, or if the file cannot be read. */
export function licenceOf({ path }: { readonly path: string }) {
  try {
    return familyOf(path).licence;
  } catch {
    return null;
  }
}

/** Returns the texts that name the authors of models whose licence requires it, each once. */
export function attributionsOf(models: readonly { readonly path: string }[]): string[] {
  return [...new Set(models.flatMap((model) => licenceOf(model)?.attribution ?? []))];
}
