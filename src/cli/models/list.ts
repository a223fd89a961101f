import type { Command } from "commander";
import { builtInPath, type InstalledModel, type ModelEntry, publishedSize } from "../../models/index.ts";
import { type JsonOption, print, table } from "../output.ts";
import { settingsCommand } from "../settings-options.ts";
import { type ModelsContext, modelsContext } from "./context.ts";

/** transcribe models list */
export function listCommand(): Command {
  return settingsCommand("list", "List the installed models and those of the catalogue.").action(
    async (options: JsonOption, command: Command) => {
      const context = await modelsContext(command);
      const rows = modelRows(context);
      print(options, rows, () => [asTable(rows), ...notes(context)].join("\n"));
    },
  );
}

/** Returns the models in the format of `models list --json`. */
function modelRows({ catalogue, files, library, speech }: ModelsContext) {
  const inUse = speech.current().id;
  const installed = new Map(library.list().map((model) => [model.id, model]));
  const known = catalogue.map((entry) =>
    modelRow(entry.id, { entry, comesWithProgram: builtInPath(entry, files) !== null }, installed.get(entry.id), inUse),
  );
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
    licence: entry?.licence ?? null,
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
