import { Command } from "commander";
import { readStatus, type ServiceStatus } from "../../install/index.ts";
import { size } from "../../text/index.ts";
import { CommandError } from "../command-error.ts";
import { print } from "../output.ts";
import { addSettingsOptions, dataSettingsOf } from "../settings-options.ts";
import { thisMachine } from "./this-machine.ts";

/** transcribe service status */
export function statusCommand(): Command {
  return addSettingsOptions(new Command("status"), ["server.host", "server.port", "storage.data_dir"])
    .description("How the service stands, with systemd or without. Ends with 0 while it takes work, else with 1.")
    .option("--json", "print it as JSON")
    .action(async ({ json }: { json?: boolean }, command: Command) => {
      const status = await readStatus(dataSettingsOf(command), thisMachine);
      print(json === true, inSnakeCase(status), () => inWords(status));
      // The message is empty, because the printed status contains the reason.
      if (!status.ready) throw new CommandError("");
    });
}

function inSnakeCase({ ready, trouble, unit, pid, version, origin, queue }: ServiceStatus) {
  const shown = unit && {
    active: unit.active,
    sub: unit.sub,
    enabled: unit.enabled,
    restarts: unit.restarts,
    says: unit.says,
    memory_bytes: unit.memoryBytes,
  };
  return { ready, trouble, pid, version, origin, queue, unit: shown };
}

function inWords({ ready, trouble, unit, pid, version, origin, queue }: ServiceStatus): string {
  const lines: [string, string][] = [
    ["server", ready ? `takes work at ${origin}` : `does not take work: ${trouble}`],
    ["process", pid === null ? "-" : `${pid}${version === null ? "" : `, version ${version}`}`],
    ["queue", queue === null ? "-" : `${queue.processing} processing, ${queue.queued} queued`],
    ["systemd", unit === null ? "no such unit here" : unitInWords(unit)],
  ];
  return lines.map(([name, value]) => `${name.padEnd(8)}  ${value}`).join("\n");
}

function unitInWords({ active, sub, enabled, restarts, memoryBytes }: NonNullable<ServiceStatus["unit"]>): string {
  return [
    `${active} (${sub})`,
    enabled ? "starts with the machine" : "does not start with the machine",
    ...(restarts > 0 ? [`started again ${restarts} times`] : []),
    ...(memoryBytes === null ? [] : [size(memoryBytes)]),
  ].join("; ");
}
