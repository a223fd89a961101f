import { Command } from "commander";
import { installCommand } from "./install.ts";
import { statusCommand } from "./status.ts";
import { uninstallCommand } from "./uninstall.ts";

/** transcribe service … */
export function serviceCommand(): Command {
  return new Command("service")
    .description("The server as a service of this machine, by systemd.")
    .addCommand(installCommand())
    .addCommand(uninstallCommand())
    .addCommand(statusCommand());
}
