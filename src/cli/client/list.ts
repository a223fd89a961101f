import { Command, InvalidArgumentError } from "commander";
import { statusSchema } from "../../recordings/index.ts";
import { type JsonOption, print, readableTime, table } from "../output.ts";
import { positiveNumber } from "../parse-option.ts";
import { printable } from "../printable.ts";
import { addServerOptions, withClient } from "./connection.ts";

interface ListOptions extends JsonOption {
  readonly status?: string;
  readonly limit: number;
  readonly all?: boolean;
}

const statuses: readonly string[] = statusSchema.anyOf.map((choice) => choice.const);

/** transcribe list */
export function listCommand(): Command {
  const command = new Command("list")
    .description("List the recordings that the key may access, newest first.")
    .option("--status <statuses>", `only these: ${statuses.join(", ")}; separated by commas`, statusList)
    .option("--limit <number>", "maximum number of recordings", positiveNumber, 20)
    .option("--all", "list all recordings")
    .option("--json", "print the result as JSON");
  return addServerOptions(command).action((options: ListOptions) =>
    withClient(command, async (client) => {
      const limit = options.all === true ? Number.POSITIVE_INFINITY : options.limit;
      const found = await client.list(limit, options.status);
      print(options, found, () =>
        table(
          found,
          {
            ID: ({ id }) => printable(id),
            STATUS: ({ status, failure_reason, progress }) => {
              const detail = failure_reason ?? progress.step;
              return detail === null ? status : `${status} (${detail})`;
            },
            SECONDS: ({ duration_seconds }) => String(duration_seconds ?? "-"),
            CREATED: ({ created_at }) => readableTime(created_at),
            SOURCE: ({ source }) => printable(source.name ?? source.url ?? "-"),
          },
          "no recordings",
        ),
      );
    }),
  );
}

function statusList(text: string): string {
  const wrong = text.split(",").find((status) => !statuses.includes(status));
  if (wrong === undefined) return text;
  throw new InvalidArgumentError(`"${wrong}" is not a status; use ${statuses.join(", ")}.`);
}
