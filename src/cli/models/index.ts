import { Command } from "commander";
import { checkCommand } from "./check.ts";
import { bundleCommand, importCommand, pullCommand } from "./install.ts";
import { listCommand, verifyCommand } from "./list.ts";
import { removeCommand, useCommand } from "./use.ts";

export { type ModelsContext, modelsContext } from "./context.ts";
export { requireInstalled } from "./use.ts";

/** transcribe models list|pull|import|verify|use|check|remove|bundle */
export function modelsCommand(): Command {
  return new Command("models")
    .description("Manage the speech models: available, installed, and in use.")
    .addCommand(listCommand())
    .addCommand(pullCommand())
    .addCommand(importCommand())
    .addCommand(verifyCommand())
    .addCommand(useCommand())
    .addCommand(checkCommand())
    .addCommand(removeCommand())
    .addCommand(bundleCommand());
}
