import type { InstalledModel } from "../../models/index.ts";

/** Converts an installed model to the format that the installing commands print with `--json`. */
export function shown({ id, sizeBytes, sha256, sha1, inCatalogue, from, installedAt }: InstalledModel) {
  return { id, size_bytes: sizeBytes, sha256, sha1, in_catalogue: inCatalogue, from, installed_at: installedAt };
}
