import { Command } from "commander";
import { builtInPath, findModel, verifyBuiltIn, verifyInstalled } from "../../models/index.ts";
import { renewal } from "../../program/index.ts";
import { CommandError } from "../command-error.ts";
import { print } from "../output.ts";
import { addSettingsOptions } from "../settings-options.ts";
import { type ModelsContext, modelsContext } from "./models-context.ts";
import { ProgressLine } from "./progress-line.ts";

/** transcribe models verify [ID…] */
export function verifyCommand(): Command {
  return addSettingsOptions(new Command("verify"), ["storage.data_dir"])
    .description("Check the models that are here by their digests; exit code 1 where one is damaged.")
    .argument("[id...]", "these alone (default: all that are here)")
    .option("--json", "print the findings as JSON")
    .action(async (ids: string[], options: { json?: boolean }, command: Command) => {
      const context = await modelsContext(command);
      const findings: { id: string; damage: string | null }[] = [];
      using progress = new ProgressLine();
      for (const id of ids.length > 0 ? ids : everything(context)) {
        findings.push({ id, damage: await verify(id, context, progress) });
      }
      progress[Symbol.dispose]();
      const rows = findings.map(({ id, damage }) => ({ id, ok: damage === null, damage }));
      print(options.json === true, rows, () =>
        rows.map(({ id, damage }) => `${id}: ${damage === null ? "whole" : `damaged: ${damage}`}`).join("\n"),
      );
      const damaged = rows.filter(({ ok }) => !ok).map(({ id }) => id);
      if (damaged.length > 0) throw new CommandError(`${damaged.join(", ")}: damaged; ${remedy(damaged, context)}`);
    });
}

function everything({ catalogue, files, library }: ModelsContext): string[] {
  const builtIn = catalogue.filter((entry) => builtInPath(entry, files) !== null);
  return [...builtIn, ...library.list()].map(({ id }) => id);
}

async function verify(id: string, context: ModelsContext, progress: ProgressLine): Promise<string | null> {
  const { catalogue, files, library } = context;
  const onProgress = (done: number, total: number) => progress.show(`${id}: check`, done, total);
  const installed = library.find(id);
  if (installed !== null) return verifyInstalled(installed, catalogue, onProgress);
  const entry = findModel(catalogue, id);
  const path = entry && builtInPath(entry, files);
  if (entry !== null && path !== null) return verifyBuiltIn(entry, path, onProgress);
  throw new CommandError(`${id} is not installed; see what is with: transcribe models list`);
}

function remedy(damaged: readonly string[], { catalogue, files }: ModelsContext): string {
  const steps = damaged.map((id) => {
    const entry = findModel(catalogue, id);
    if (entry === null) return "remove it and import it again";
    return builtInPath(entry, files) !== null ? renewal : `transcribe models pull ${id}`;
  });
  return `mend it: ${[...new Set(steps)].join("; ")}`;
}
