import { Command, InvalidArgumentError } from "commander";
import { statusSchema } from "../../recordings/index.ts";
import { print, table } from "../output.ts";
import { printable } from "../printable.ts";
import { howMany } from "../whole-number.ts";
import type { ListedTranscription } from "./api-client.ts";
import { addServerOptions } from "./connection.ts";
import { listRecordings } from "./list-recordings.ts";
import { inSession } from "./session.ts";

interface ListOptions {
  readonly status?: string;
  readonly limit: number;
  readonly all?: boolean;
  readonly json?: boolean;
}

const statuses: readonly string[] = statusSchema.anyOf.map((choice) => choice.const);

/** transcribe list */
export function listCommand(): Command {
  const command = new Command("list")
    .description("List the recordings that the key may see, newest first.")
    .option("--status <statuses>", `only these: ${statuses.join(", ")}; by comma`, statusList)
    .option("--limit <number>", "so many", howMany, 20)
    .option("--all", "all there are")
    .option("--json", "print them as JSON");
  return addServerOptions(command).action(({ status, limit, all, json }: ListOptions) =>
    inSession(command, async ({ client, persistence }) => {
      const wanted = all === true ? Number.POSITIVE_INFINITY : limit;
      const found = await listRecordings(client, persistence, { status, limit: wanted });
      print(json === true, found, () => table(["ID", "STATUS", "SECONDS", "CREATED", "SOURCE"], found.map(row)));
    }),
  );
}

function row({ id, status, progress, duration_seconds, created_at, source, failure_reason }: ListedTranscription) {
  const detail = failure_reason ?? progress.step;
  return [
    id,
    detail === null ? status : `${status} (${detail})`,
    String(duration_seconds ?? "-"),
    created_at,
    printable(source.name ?? source.url ?? "-"),
  ].map(printable);
}

function statusList(text: string): string {
  const wrong = text.split(",").find((status) => !statuses.includes(status));
  if (wrong === undefined) return text;
  throw new InvalidArgumentError(`"${wrong}" is no status; there are ${statuses.join(", ")}.`);
}
