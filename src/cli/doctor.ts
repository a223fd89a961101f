import { Command } from "commander";
import { loadSettings, type Settings, SettingsError } from "../config/index.ts";
import { checks, openContext, type Result, runChecks } from "../diagnostics/index.ts";
import { programVersion } from "../program/index.ts";
import { interruptible } from "./client/interruptible.ts";
import { CommandError } from "./command-error.ts";
import { doctorReport, paintFor } from "./doctor-report.ts";
import { print } from "./output.ts";
import { serveFlags } from "./serve.ts";
import { servingSettings } from "./serving-settings.ts";
import { addSettingsOptions, becomeDataOwner, settingsFileOf } from "./settings-options.ts";

const widest = 110;

const exitCodesHelp = `
Exit codes: 0 all is well, maybe with warnings; 1 there is a problem; 2 the command line is wrong; 130 interrupted.
Nothing is changed without --fix. Each check has a section under its name in docs/troubleshooting.md.`;

interface DoctorOptions {
  readonly fix?: true;
  readonly all?: true;
  readonly json?: true;
}

/** transcribe doctor */
export function doctorCommand(): Command {
  return addSettingsOptions(new Command("doctor"), serveFlags)
    .description("Check everything that the service needs on this machine, and say what to do about what is wrong.")
    .option("--fix", "mend what can be mended, and say what was done")
    .option(
      "--all",
      "look longer, which may take minutes: every CPU variant that fits, the checksums of all installed models",
    )
    .option("--json", "print the findings as JSON")
    .addHelpText("after", exitCodesHelp)
    .action(async (options: DoctorOptions, command: Command) => {
      const results = await interruptible((signal) => examine(options, command, signal));
      print(options.json === true, { version: programVersion, checks: results.map(asJson) }, () =>
        doctorReport(results, {
          paint: paintFor(process.stdout, process.env),
          width: Math.min(process.stdout.columns ?? widest, widest),
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
  const progress = process.stderr.isTTY === true;
  try {
    return await runChecks(checks, context, {
      fix: options.fix === true,
      onStart: ({ title }) => {
        if (progress) process.stderr.write(`\r\x1b[Kchecking: ${title} …`);
      },
    });
  } finally {
    if (progress) process.stderr.write("\r\x1b[K");
    context.close();
  }
}

/** Reads the settings. If they are invalid, returns the defaults with the given data directory, and the error. */
function readableSettings(command: Command): { settings: Settings; settingsError: string | null } {
  try {
    return { settings: servingSettings(command)(), settingsError: null };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const { dataDir = process.env.TRANSCRIBE_DATA_DIR }: { dataDir?: string } = command.opts();
    const flags: Record<string, string> = dataDir === undefined ? {} : { "storage.data_dir": dataDir };
    return { settings: loadSettings({ file: undefined, environment: {}, flags }), settingsError: error.message };
  }
}

function asJson({ check, finding, mended }: Result) {
  const { status, summary, detail = [], advice = null, mending } = finding;
  return { id: check.id, title: check.title, status, summary, detail, advice, fixable: mending !== undefined, mended };
}
