import type { InstalledModel } from "../../models/index.ts";

/** An installed model as the commands that bring one print it with `--json`. */
export function shown({ id, sizeBytes, sha256, sha1, inCatalogue, from, installedAt }: InstalledModel) {
  return { id, size_bytes: sizeBytes, sha256, sha1, in_catalogue: inCatalogue, from, installed_at: installedAt };
}
