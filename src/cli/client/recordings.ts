import { Command, Option } from "commander";
import type { TranscriptionResource } from "../../api-contract/index.ts";
import { values } from "../../database/index.ts";
import { type ExportFormat, type ExportLayout, exportFormats } from "../../exports/index.ts";
import { type Status, tags } from "../../recordings/index.ts";
import { CommandError, throwAll } from "../command-error.ts";
import { addLayoutOptions, type LayoutOptions, layoutOf, speakersOption } from "../layout-options.ts";
import { facts, type JsonOption, print, printTable, readableTime } from "../output.ts";
import { makeOutputDirectory, outputOption, planOutputs, standardOutput, writeOutput } from "../outputs.ts";
import { each, listOf, parsedBy, positiveNumber, resourceId } from "../parse-option.ts";
import { printable } from "../printable.ts";
import { transcriptText } from "../recording-texts.ts";
import type { ApiClient } from "./api-client.ts";
import { ClientError } from "./client-error.ts";
import { addServerOptions, withClient } from "./connection.ts";

const { statuses } = values;

/** transcribe list */
export function listCommand(): Command {
  const command = new Command("list")
    .description("List the recordings that the key may access, newest first.")
    .option("--status <statuses>", `only these: ${statuses.join(", ")}; separated by commas`, listOf(statuses))
    .option("--limit <number>", "maximum number of recordings", positiveNumber, 20)
    .addOption(new Option("--all", "list all recordings").conflicts("limit"))
    .option("--tag <tag>", "only recordings with this tag", parsedBy(tags.parseTag))
    .option("--json", "print the result as JSON");
  return addServerOptions(command).action(
    (options: JsonOption & { status?: readonly Status[]; tag?: string; limit: number; all?: true }) =>
      withClient(command, async (client) => {
        const limit = options.all === true ? Number.POSITIVE_INFINITY : options.limit;
        const found = await client.list(limit, options.status?.join(","), options.tag);
        printTable(options, found, (each) => each, "no recordings", {
          ID: ({ id }) => printable(id),
          STATUS: ({ status, failure_reason, progress }) => {
            const detail = failure_reason ?? progress.step;
            return detail === null ? status : `${status} (${detail})`;
          },
          SECONDS: ({ duration_seconds }) => String(duration_seconds ?? "-"),
          CREATED: ({ created_at }) => readableTime(created_at),
          SOURCE: ({ source }) => printable(source.name ?? source.url ?? "-"),
        });
      }),
  );
}

interface GetOptions extends JsonOption {
  readonly segments?: true;
  readonly translation?: true;
}

/** transcribe get ID */
export function getCommand(): Command {
  const command = new Command("get")
    .description("Show a recording and its progress, with --segments its transcript.")
    .argument("<id>", "the recording's id", resourceId)
    .option("--segments", "print the transcript, too; the recording must be completed")
    .addOption(new Option("--translation", "print the translation to English, too").conflicts("segments"))
    .option("--json", "print the transcription as JSON, with --segments or --translation its segments in it");
  return addServerOptions(command).action((id: string, options: GetOptions) =>
    withClient(command, async (client) => {
      const { translation } = options;
      const transcription = await client.get(id);
      const segments =
        options.segments === true || translation === true
          ? await client.segments(id, translation === true ? "translation" : "transcript")
          : null;
      print(options, segments === null ? transcription : { ...transcription, segments }, () => {
        const record = describe(transcription);
        return segments === null ? record : `${record}\n\n${transcriptText(segments).trimEnd()}`;
      });
    }),
  );
}

function describe({ progress, source, workspace, ...rest }: TranscriptionResource): string {
  return facts({
    id: rest.id,
    status: rest.status,
    step: progress.step,
    percent: progress.percent,
    failure_reason: rest.failure_reason,
    source: source.name ?? source.url,
    language: rest.language,
    duration_seconds: rest.duration_seconds,
    workspace: workspace?.name,
    created_at: rest.created_at,
    updated_at: rest.updated_at,
  });
}

interface ExportOptions extends LayoutOptions {
  readonly speakers?: ExportLayout["speakers"];
  readonly format?: ExportFormat;
  readonly output?: string;
  readonly force?: boolean;
  readonly translation?: true;
}

/** transcribe export ID */
export function exportCommand(): Command {
  const saving = new Command("export")
    .description("Save the transcript of a completed recording as a file.")
    .argument("<id>", "the recording's id", resourceId)
    .addOption(
      new Option("--format <format>", "file format (default: by the extension of the output, else txt)").choices(
        exportFormats,
      ),
    )
    .addOption(outputOption("a file, or DIRECTORY/; - is standard output").default(standardOutput))
    .option("--force", "overwrite an existing file")
    .option("--translation", "save the translation to English instead of the transcript")
    .addOption(speakersOption("speakers", ["names", "letters", "none"]));
  const command = addLayoutOptions(saving);
  return addServerOptions(command).action((id: string, options: ExportOptions) => {
    const [output] = planOutputs([id], options);
    const { format, path } = output ?? { format: "txt", path: standardOutput };
    const layout = layoutOf(options, format, options.speakers, "speakers");
    return withClient(command, async (client) => {
      const content = await client.export(
        id,
        format,
        options.translation === true ? "translation" : "transcript",
        layout,
      );
      makeOutputDirectory(options);
      await writeOutput(path, content, options.force === true);
    });
  });
}

/** transcribe delete ID… */
export function deleteCommand(): Command {
  const command = new Command("delete")
    .description("Delete completed or failed recordings with their audio and their transcripts.")
    .argument("<id...>", "ids of recordings", each(resourceId))
    .option("--json", "print as JSON, for each recording: id, deleted, error");
  return addServerOptions(command).action((ids: string[], options: JsonOption) =>
    withClient(command, (client) => changeEach(client, ids, options, "deleted", (id) => client.delete(id))),
  );
}

/**
 * Changes recordings one after the other, and prints which were changed.
 * @param done what happened to a recording, for people and as the name of a field in JSON
 * @throws {CommandError} with the failures, after all recordings
 */
export async function changeEach(
  client: ApiClient,
  ids: readonly string[],
  options: JsonOption,
  done: "deleted" | "cancelled",
  change: (id: string) => Promise<unknown>,
): Promise<void> {
  // Checks the key first, so that a refused key is reported once and not for each id.
  await client.checkKey();
  const changes: { id: string; fault: ClientError | null }[] = [];
  for (const id of new Set(ids)) changes.push({ id, fault: await faultOf(() => change(id)) });
  const changed = changes.filter(({ fault }) => fault === null);
  const json = changes.map(({ id, fault }) => ({
    id,
    [done]: fault === null,
    error: fault === null ? null : { code: fault.code, message: fault.message },
  }));
  if (options.json === true || changed.length > 0) {
    print(options, json, () => changed.map(({ id }) => `${done} ${id}`).join("\n"));
  }
  throwAll(
    changes.flatMap(({ id, fault }) =>
      fault === null ? [] : [new CommandError(`${id}: ${fault.message}`, fault.exitCode)],
    ),
  );
}

/** Changes one recording. @returns the error if that failed, else null */
async function faultOf(change: () => Promise<unknown>): Promise<ClientError | null> {
  try {
    await change();
    return null;
  } catch (error) {
    if (error instanceof ClientError) return error;
    throw error;
  }
}
