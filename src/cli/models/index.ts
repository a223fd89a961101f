import { Command } from "commander";
import { bundleCommand } from "./bundle.ts";
import { importCommand } from "./import.ts";
import { listCommand } from "./list.ts";
import { pullCommand } from "./pull.ts";
import { removeCommand } from "./remove.ts";
import { useCommand } from "./use.ts";
import { verifyCommand } from "./verify.ts";

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
