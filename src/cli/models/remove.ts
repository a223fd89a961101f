import type { Command } from "commander";
import { audit } from "../../accounts/index.ts";
import { findModel } from "../../models/index.ts";
import { auditor } from "../admin/audit.ts";
import { CommandError } from "../command-error.ts";
import { type JsonOption, print } from "../output.ts";
import { settingsCommand } from "../settings-options.ts";
import { type ModelsContext, modelJson, modelsContext } from "./context.ts";

/** transcribe models remove ID */
export function removeCommand(): Command {
  return settingsCommand("remove", "Remove an installed model that is not in use.")
    .argument("<id>")
    .action(async (id: string, options: JsonOption, command: Command) => {
      const context = await modelsContext(command);
      const { library, store } = context;
      using _lock = await library.lock(id);
      const model = library.find(id);
      if (model === null) throw new CommandError(notInstalled(id, context));
      refuseNeeded(id, context);
      await library.remove(id);
      audit(store, auditor(), "models.remove", id, { sha256: model.sha256 });
      print(options, modelJson(model), () => `removed ${id}`);
    });
}

function notInstalled(id: string, { catalogue }: ModelsContext): string {
  const known = findModel(catalogue, id);
  if (known?.sources.some(({ type }) => type === "repository" || type === "ctranslate2-wheels")) {
    return `${id} is part of the program and can't be removed`;
  }
  return `${id} is not installed; list the models with: transcribe models list`;
}

function refuseNeeded(id: string, { speech, recordings }: ModelsContext): void {
  if (speech.current().id === id) {
    throw new CommandError(`${id} is in use; choose another first: transcribe models use ID`);
  }
  if (recordings.open.models().includes(id)) {
    throw new CommandError(
      `queued or processing recordings need ${id}; wait for them: transcribe recordings list --status queued,processing`,
    );
  }
}
