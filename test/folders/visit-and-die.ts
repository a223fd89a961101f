// Works on a folder until nothing is left to do, and ends this process with SIGKILL before a step of it: DIRECTORY STEP LINKS.
import { dieAtStep } from "../support/die-at-step.ts";
import { FolderBench } from "./folder-bench.ts";
import { ownFileSystem } from "./own-file-system.ts";

const [root = "", step = "", links = ""] = process.argv.slice(2);
const bench = new FolderBench({ root });

const die = dieAtStep(Number(step));
const steps: ReadonlySet<string> = new Set([
  "createFile",
  "write",
  "link",
  "rename",
  "remove",
  "makeDirectory",
  "sync",
]);
bench.services = {
  ...bench.services,
  fileSystemOf: () => ({
    call(name, ...args) {
      if (steps.has(name)) die();
      const isMissing = name === "link" && links === "without links";
      if (isMissing) return Promise.reject(Object.assign(new Error("not supported"), { code: "EOPNOTSUPP" }));
      return ownFileSystem.call(name, ...args);
    },
  }),
};
await bench.finish();
