import { Command } from "commander";
import { bundleCommand, importCommand, pullCommand } from "./install.ts";
import { listCommand, verifyCommand } from "./list.ts";
import { removeCommand, useCommand } from "./use.ts";

/** transcribe models list|pull|import|verify|use|remove|bundle */
export function modelsCommand(): Command {
  return new Command("models")
    .description("Manage the speech models: available, installed, and in use.")
    .addCommand(listCommand())
    .addCommand(pullCommand())
    .addCommand(importCommand())
    .addCommand(verifyCommand())
    .addCommand(useCommand())
    .addCommand(removeCommand())
    .addCommand(bundleCommand());
}
