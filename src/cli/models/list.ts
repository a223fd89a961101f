import type { Command } from "commander";
import {
  builtInPath,
  familyFacts,
  findModel,
  foreignWeights,
  type InstalledModel,
  type ModelEntry,
  publishedSize,
  verifyBuiltIn,
  verifyInstalled,
} from "../../models/index.ts";
import { renewal } from "../../program/index.ts";
import { CommandError } from "../command-error.ts";
import { type JsonOption, print, table } from "../output.ts";
import { each, someText } from "../parse-option.ts";
import { settingsCommand } from "../settings-options.ts";
import { StatusLine } from "../status-line.ts";
import { type ModelsContext, modelsContext } from "./context.ts";

/** transcribe models list */
export function listCommand(): Command {
  return settingsCommand("list", "List the installed models and those of the catalogue.").action(
    async (options: JsonOption, command: Command) => {
      const context = await modelsContext(command);
      const foreign = await foreignModels(context);
      const rows = modelRows(context, foreign);
      print(options, rows, () =>
        [
          asTable(rows),
          ...notes(context),
          ...foreignNotes(foreign),
          ...uncalibrated(context),
          ...attributions(context),
        ].join("\n"),
      );
    },
  );
}

/** The SHA-256 of built-in models that are not the files of a release, by id. See foreignWeights. */
type ForeignModels = ReadonlyMap<string, string>;

async function foreignModels({ catalogue, files }: ModelsContext): Promise<ForeignModels> {
  const found = new Map<string, string>();
  for (const entry of catalogue) {
    const path = builtInPath(entry, files);
    const sha256 = path === null ? null : await foreignWeights(entry, path);
    if (sha256 !== null) found.set(entry.id, sha256);
  }
  return found;
}

function foreignNotes(foreign: ForeignModels): string[] {
  return [...foreign].flatMap(([id, sha256]) => ["", `${id} is not the file of releases: its SHA-256 is ${sha256}.`]);
}

/** Returns the models in the format of `models list --json`. */
function modelRows({ catalogue, files, library, speech }: ModelsContext, foreign: ForeignModels) {
  const inUse = speech.current().id;
  const installed = new Map(library.list().map((model) => [model.id, model]));
  const known = catalogue.map((entry) => {
    const here = { entry, comesWithProgram: builtInPath(entry, files) !== null };
    const row = modelRow(entry.id, here, installed.get(entry.id), inUse);
    return { ...row, sha256: foreign.get(entry.id) ?? row.sha256 };
  });
  const others = [...installed.values()].filter(({ id }) => !catalogue.some((entry) => entry.id === id));
  return [...known, ...others.map((model) => modelRow(model.id, null, model, inUse))];
}

type ModelRow = ReturnType<typeof modelRow>;

interface Known {
  readonly entry: ModelEntry;
  readonly comesWithProgram: boolean;
}

function modelRow(id: string, known: Known | null, model: InstalledModel | undefined, inUse: string) {
  const { entry, comesWithProgram = false } = known ?? {};
  const size = entry === undefined ? null : publishedSize(entry);
  const download = entry?.sources.find((source) => source.type === "download");
  return {
    id,
    kind: entry?.kind ?? "speech",
    state: comesWithProgram ? "built_in" : model === undefined ? "available" : "installed",
    in_use: id === inUse || (comesWithProgram && entry?.kind !== "speech"),
    in_catalogue: entry !== undefined,
    size_bytes: model?.sizeBytes ?? size?.bytes ?? null,
    size_is_exact: model !== undefined || size?.exact === true,
    memory_bytes: entry?.memoryBytes ?? null,
    parameters: entry?.parameters ?? null,
    languages: entry?.languages ?? null,
    licence: entry?.licence ?? (model === undefined ? null : (familyFacts(model)?.licence?.name ?? null)),
    sha256: model?.sha256 ?? entry?.sha256 ?? null,
    sha1: model?.sha1 ?? download?.sha1 ?? null,
    from: model?.from ?? null,
    installed_at: model?.installedAt ?? null,
    advice: entry?.advice ?? null,
  } as const;
}

function asTable(rows: readonly ModelRow[]): string {
  const mebibytes = (bytes: number | null) => (bytes === null ? "-" : `${Math.round(bytes / 1024 / 1024)} MiB`);
  return table(
    rows,
    {
      ID: ({ id }) => id,
      STATE: ({ state, in_use }) => `${state.replace("_", " ")}${in_use ? ", in use" : ""}`,
      SIZE: (row) => `${row.size_bytes === null || row.size_is_exact ? "" : "~"}${mebibytes(row.size_bytes)}`,
      MEMORY: ({ memory_bytes }) => mebibytes(memory_bytes),
      PARAMETERS: ({ parameters }) => parameters ?? "-",
      LANGUAGES: ({ languages }) => languages ?? "-",
      LICENCE: ({ licence }) => licence ?? "-",
      "": (row) => row.advice ?? (row.in_catalogue ? "" : "not in the catalogue; its digest was computed on import"),
    },
    "no models",
  );
}

function notes({ setting, speech }: ModelsContext): string[] {
  const chosen = speech.chosen();
  const current = speech.current().id;
  if (setting !== "") {
    return ["", `The setting engine.whisper_model is ${setting}; it overrides "transcribe models use".`];
  }
  if (chosen === null || chosen === current) return [];
  return [
    "",
    `${chosen} was chosen, but is not installed; ${current} is used. Pull it again, or choose another model.`,
  ];
}

/** Names the installed models whose probabilities have another meaning than those that the console marks words by. */
function uncalibrated({ library }: ModelsContext): string[] {
  const models = library.list().filter((model) => familyFacts(model)?.hasCalibratedProbabilities === false);
  const meaning = "its probabilities are not calibrated, so the console marks none of its words as uncertain.";
  return models.flatMap(({ id }) => ["", `${id}: ${meaning}`]);
}

/** Names the authors of installed models whose licence requires it. */
function attributions({ library }: ModelsContext): string[] {
  const texts = library.attributions();
  return texts.length === 0 ? [] : ["", ...texts];
}

/** transcribe models verify [ID…] */
export function verifyCommand(): Command {
  return settingsCommand("verify", "Check the digests of installed models; exit code 1 if one is damaged.")
    .argument("[id...]", "only these (default: all installed and built-in models)", each(someText))
    .action(async (ids: string[], options: JsonOption, command: Command) => {
      const context = await modelsContext(command);
      const findings: { id: string; damage: string | null }[] = [];
      using progress = new StatusLine();
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

async function verify(id: string, context: ModelsContext, progress: StatusLine): Promise<string | null> {
  const { catalogue, files, library } = context;
  const onProgress = (done: number, total: number) => progress.showTransfer(`${id}: check`, done, total);
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
