import { Command } from "commander";
import { builtInPath, type InstalledModel, type ModelEntry, publishedSize } from "../../models/index.ts";
import { print, table } from "../output.ts";
import { addSettingsOptions } from "../settings-options.ts";
import { type ModelsContext, modelsContext } from "./models-context.ts";

/** transcribe models list */
export function listCommand(): Command {
  return addSettingsOptions(new Command("list"), ["storage.data_dir"])
    .description("List the models that are here, and those of the catalogue.")
    .option("--json", "print them as JSON")
    .action(async (options: { json?: boolean }, command: Command) => {
      const context = await modelsContext(command);
      const rows = modelRows(context);
      print(options.json === true, rows, () => [asTable(rows), ...notes(context)].join("\n"));
    });
}

/** Returns the models in the format of `models list --json`. */
function modelRows({ catalogue, files, library, speech }: ModelsContext) {
  const inUse = speech.current().id;
  const installed = new Map(library.list().map((model) => [model.id, model]));
  const known = catalogue.map((entry) =>
    row(entry.id, { entry, comesWithProgram: builtInPath(entry, files) !== null }, installed.get(entry.id), inUse),
  );
  const others = [...installed.values()].filter(({ id }) => !catalogue.some((entry) => entry.id === id));
  return [...known, ...others.map((model) => row(model.id, null, model, inUse))];
}

type ModelRow = ReturnType<typeof row>;

interface Known {
  readonly entry: ModelEntry;
  readonly comesWithProgram: boolean;
}

function row(id: string, known: Known | null, model: InstalledModel | undefined, inUse: string) {
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
  const amount = (bytes: number | null, about = "") =>
    bytes === null ? "-" : `${about}${Math.round(bytes / 1024 / 1024)} MiB`;
  return table(
    ["ID", "STATE", "SIZE", "MEMORY", "PARAMETERS", "LANGUAGES", "LICENCE", ""],
    rows.map((model) => [
      model.id,
      `${model.state.replace("_", " ")}${model.in_use ? ", in use" : ""}`,
      amount(model.size_bytes, model.size_is_exact ? "" : "~"),
      amount(model.memory_bytes),
      model.parameters ?? "-",
      model.languages ?? "-",
      model.licence ?? "-",
      model.advice ?? (model.in_catalogue ? "" : "not in the catalogue, its digest was computed on import"),
    ]),
  );
}

function notes({ setting, speech }: ModelsContext): string[] {
  const chosen = speech.chosen();
  const current = speech.current().id;
  if (setting !== "")
    return ["", `The setting engine.whisper_model is ${setting}; it wins over "transcribe models use".`];
  if (chosen === null || chosen === current) return [];
  return ["", `${chosen} was chosen and is not here any more; ${current} is used. Get it again, or choose another.`];
}
