import { Command } from "commander";
import { CommandError, throwAll } from "../command-error.ts";
import { type JsonOption, print } from "../output.ts";
import type { ApiClient } from "./api-client.ts";
import { addServerOptions, withClient } from "./connection.ts";
import { ClientError } from "./request.ts";

/** transcribe delete ID… */
export function deleteCommand(): Command {
  const command = new Command("delete")
    .description("Delete completed or failed recordings with their audio and their transcripts.")
    .argument("<id...>", "ids of recordings")
    .option("--json", "print as JSON, for each recording: id, deleted, error");
  return addServerOptions(command).action((ids: string[], options: JsonOption) =>
    withClient(command, async (client) => {
      // Checks the key first, so that a refused key is reported once and not for each id.
      await client.checkKey();
      const deletions: { id: string; fault: ClientError | null }[] = [];
      for (const id of new Set(ids)) deletions.push({ id, fault: await deletionFault(client, id) });
      const deleted = deletions.filter(({ fault }) => fault === null);
      const json = deletions.map(({ id, fault }) => ({
        id,
        deleted: fault === null,
        error: fault === null ? null : { code: fault.code, message: fault.message },
      }));
      if (options.json === true || deleted.length > 0) {
        print(options, json, () => deleted.map(({ id }) => `deleted ${id}`).join("\n"));
      }
      throwAll(
        deletions.flatMap(({ id, fault }) =>
          fault === null ? [] : [new CommandError(`${id}: ${fault.message}`, fault.exitCode)],
        ),
      );
    }),
  );
}

/** Deletes one recording. @returns the error if the deletion failed, else null */
async function deletionFault(client: ApiClient, id: string): Promise<ClientError | null> {
  try {
    await client.delete(id);
    return null;
  } catch (error) {
    if (error instanceof ClientError) return error;
    throw error;
  }
}
