import type { Command } from "commander";
import { loadSettings, type Settings, SettingsError } from "../config/index.ts";
import { checks, openContext, type Result, runChecks } from "../diagnostics/index.ts";
import { programVersion } from "../program/index.ts";
import { CommandError } from "./command-error.ts";
import { doctorReport, paintFor } from "./doctor-report.ts";
import { interruptible } from "./interrupts.ts";
import { type JsonOption, print } from "./output.ts";
import { servingSettings } from "./serve.ts";
import { becomeDataOwner, serveFlags, settingsCommand, settingsFileOf } from "./settings-options.ts";
import { StatusLine } from "./status-line.ts";

const MAX_COLUMNS = 110;

const exitCodesHelp = `
Exit codes: 0 no problems, perhaps warnings; 1 a problem was found; 2 the command line is wrong; 130 interrupted.
Nothing is changed without --fix. docs/troubleshooting.md has a section about each check.`;

interface DoctorOptions extends JsonOption {
  readonly fix?: true;
  readonly all?: true;
}

/** transcribe doctor */
export function doctorCommand(): Command {
  return settingsCommand("doctor", "Check what the server needs on this machine, and advise on problems.", serveFlags)
    .option("--fix", "repair what can be repaired, and report it")
    .option("--all", "include slow checks: every suitable CPU variant, and checksums of all installed models")
    .addHelpText("after", exitCodesHelp)
    .action(async (options: DoctorOptions, command: Command) => {
      const results = await interruptible((signal) => examine(options, command, signal));
      print(options, { version: programVersion, checks: results.map(asJson) }, () =>
        doctorReport(results, {
          paint: paintFor(process.stdout, process.env),
          width: Math.min(process.stdout.columns ?? MAX_COLUMNS, MAX_COLUMNS),
        }),
      );
      // The message is empty, because the report contains the reasons.
      if (results.some(({ finding }) => finding.status === "problem")) throw new CommandError("");
    });
}

async function examine(options: DoctorOptions, command: Command, signal: AbortSignal): Promise<Result[]> {
  const { settings, settingsError } = readableSettings(command);
  becomeDataOwner(settings);
  const context = await openContext({
    ...{ settings, settingsError },
    configFile: settingsFileOf(command) ?? null,
    all: options.all === true,
    signal,
  });
  using status = new StatusLine();
  try {
    return await runChecks(checks, context, {
      fix: options.fix === true,
      onStart: ({ title }) => status.show(`checking: ${title} …`),
    });
  } finally {
    context.close();
  }
}

/**
 * Reads the settings. If they are invalid, returns the defaults with the given data directory, and the error.
 * @throws {SettingsError} for a flag, which is a fault of the command line and not of this machine
 */
function readableSettings(command: Command): { settings: Settings; settingsError: string | null } {
  try {
    return { settings: servingSettings(command)(), settingsError: null };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    if (error.faults.some(({ origin }) => origin?.type === "flag")) throw error;
    const { dataDir = process.env.TRANSCRIBE_DATA_DIR }: { dataDir?: string } = command.opts();
    const flags: Record<string, string> = dataDir === undefined ? {} : { "storage.data_dir": dataDir };
    return { settings: loadSettings({ file: undefined, environment: {}, flags }), settingsError: error.message };
  }
}

function asJson({ check, finding, repaired }: Result) {
  const { status, summary, detail = [], advice = null, repair } = finding;
  return {
    id: check.id,
    title: check.title,
    status,
    summary,
    detail,
    advice,
    fixable: repair !== undefined,
    mended: repaired,
  };
}
