import { accessSync, constants, lstatSync } from "node:fs";
import { type Check, ok, problem } from "../check.ts";
import { existingPart } from "../file-system.ts";

export const dataDirectory: Check = {
  id: "data.directory",
  title: "Data directory",
  explanation:
    "The directory that holds the database, the recordings and the work files (`storage.data_dir`). It must be there or possible to make, and the server's user must be able to write to it.",
  run({ paths, data }) {
    const part = existingPart(paths.root);
    if (!mayWrite(part)) {
      const found = lstatSync(part).isDirectory() ? `this user may not write to ${part}` : `${part} is no directory`;
      return problem(data === "closed" ? `this user may not look into ${paths.root}` : found, {
        advice:
          "If the server runs as another user, run this as that user too (sudo -u USER transcribe doctor …). Else give the directory to the server's user (chown), or name another with --data-dir.",
      });
    }
    if (data === "missing") return ok(`${paths.root} is not there yet; the server's first start makes it`);
    return ok(paths.root);
  },
};

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return lstatSync(path).isDirectory();
  } catch {
    return false;
  }
}
