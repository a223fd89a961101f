import type { Command } from "commander";
import { builtInPath, findModel, verifyBuiltIn, verifyInstalled } from "../../models/index.ts";
import { renewal } from "../../program/index.ts";
import { CommandError } from "../command-error.ts";
import { type JsonOption, print } from "../output.ts";
import { settingsCommand } from "../settings-options.ts";
import { TransferLine } from "../status-line.ts";
import { type ModelsContext, modelsContext } from "./context.ts";

/** transcribe models verify [ID…] */
export function verifyCommand(): Command {
  return settingsCommand("verify", "Check the digests of installed models; exit code 1 if one is damaged.")
    .argument("[id...]", "only these (default: all installed and built-in models)")
    .action(async (ids: string[], options: JsonOption, command: Command) => {
      const context = await modelsContext(command);
      const findings: { id: string; damage: string | null }[] = [];
      using progress = new TransferLine();
      for (const id of ids.length > 0 ? ids : allIds(context)) {
        findings.push({ id, damage: await verify(id, context, progress) });
      }
      progress[Symbol.dispose]();
      const rows = findings.map(({ id, damage }) => ({ id, ok: damage === null, damage }));
      print(options, rows, () =>
        rows.map(({ id, damage }) => `${id}: ${damage === null ? "intact" : `damaged: ${damage}`}`).join("\n"),
      );
      const damaged = rows.filter(({ ok }) => !ok).map(({ id }) => id);
      if (damaged.length > 0) throw new CommandError(`${damaged.join(", ")}: damaged; ${remedy(damaged, context)}`);
    });
}

function allIds({ catalogue, files, library }: ModelsContext): string[] {
  const builtIn = catalogue.filter((entry) => builtInPath(entry, files) !== null);
  return [...builtIn, ...library.list()].map(({ id }) => id);
}

async function verify(id: string, context: ModelsContext, progress: TransferLine): Promise<string | null> {
  const { catalogue, files, library } = context;
  const onProgress = (done: number, total: number) => progress.show(`${id}: check`, done, total);
  const installed = library.find(id);
  if (installed !== null) return verifyInstalled(installed, catalogue, onProgress);
  const entry = findModel(catalogue, id);
  const path = entry && builtInPath(entry, files);
  if (entry !== null && path !== null) return verifyBuiltIn(entry, path, onProgress);
  throw new CommandError(`${id} is not installed; list the models with: transcribe models list`);
}

function remedy(damaged: readonly string[], { catalogue, files }: ModelsContext): string {
  const steps = damaged.map((id) => {
    const entry = findModel(catalogue, id);
    if (entry === null) return "remove it and import it again";
    return builtInPath(entry, files) !== null ? renewal : `transcribe models pull ${id}`;
  });
  return `repair: ${[...new Set(steps)].join("; ")}`;
}
