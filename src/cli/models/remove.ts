import { Command } from "commander";
import { audit } from "../../accounts/index.ts";
import { findModel } from "../../models/index.ts";
import { auditor } from "../admin/auditor.ts";
import { CommandError } from "../command-error.ts";
import { print } from "../output.ts";
import { addSettingsOptions } from "../settings-options.ts";
import { type ModelsContext, modelsContext } from "./models-context.ts";
import { shown } from "./shown.ts";

/** transcribe models remove ID */
export function removeCommand(): Command {
  return addSettingsOptions(new Command("remove"), ["storage.data_dir"])
    .description("Remove an installed model that nothing needs.")
    .argument("<id>")
    .option("--json", "print what was removed as JSON")
    .action(async (id: string, options: { json?: boolean }, command: Command) => {
      const context = await modelsContext(command);
      const { library, store } = context;
      using _lock = await library.lock(id);
      const model = library.find(id);
      if (model === null) throw new CommandError(notInstalled(id, context));
      refuseNeeded(id, context);
      await library.remove(id);
      audit(store, auditor(), "models.remove", id, { sha256: model.sha256 });
      print(options.json === true, shown(model), () => `${id} is removed`);
    });
}

function notInstalled(id: string, { catalogue }: ModelsContext): string {
  const known = findModel(catalogue, id);
  if (known?.sources.some(({ type }) => type === "repository" || type === "ctranslate2-wheels")) {
    return `${id} comes with the program and can't be removed`;
  }
  return `${id} is not installed; see what is with: transcribe models list`;
}

function refuseNeeded(id: string, { speech, recordings }: ModelsContext): void {
  if (speech.current().id === id) {
    throw new CommandError(`${id} is in use; choose another first: transcribe models use ID`);
  }
  if (recordings.open.models().includes(id)) {
    throw new CommandError(
      `recordings that are open need ${id}; wait until they have ended, see: transcribe recordings list --status queued,processing`,
    );
  }
}
