import { Command } from "commander";
import { CommandError, commonExitCode } from "../command-error.ts";
import { print } from "../output.ts";
import { ClientError } from "./client-error.ts";
import { addServerOptions } from "./connection.ts";
import { inSession, type Session } from "./session.ts";

/** transcribe delete ID… */
export function deleteCommand(): Command {
  const command = new Command("delete")
    .description("Delete recordings that have ended, with their audio and their text.")
    .argument("<id...>", "ids of recordings")
    .option("--json", "print as JSON, for each: id, deleted, error");
  return addServerOptions(command).action((ids: string[], { json }: { json?: boolean }) =>
    inSession(command, async (session) => {
      // Checks the key first, so that a refused key is reported once and not for each id.
      await session.persistence.run(() => session.client.greet(session.signal));
      const deletions: { id: string; fault: ClientError | null }[] = [];
      for (const id of new Set(ids)) deletions.push({ id, fault: await deletionFault(session, id) });
      const gone = deletions.filter(({ fault }) => fault === null);
      const faults = deletions.flatMap(({ id, fault }) => (fault === null ? [] : [{ id, fault }]));
      const shown = deletions.map(({ id, fault }) => ({
        ...{ id, deleted: fault === null },
        error: fault === null ? null : { code: fault.code, message: fault.message },
      }));
      if (json === true || gone.length > 0) {
        print(json === true, shown, () => gone.map(({ id }) => `deleted ${id}`).join("\n"));
      }
      if (faults.length === 0) return;
      const message = faults.map(({ id, fault }) => `${id}: ${fault.message}`).join("\ntranscribe: ");
      throw new CommandError(message, commonExitCode(faults.map(({ fault }) => fault.exitCode)));
    }),
  );
}

/** Deletes one recording. @returns the error if the deletion failed, else null */
async function deletionFault({ client, persistence, signal }: Session, id: string): Promise<ClientError | null> {
  try {
    await persistence.run(async (tries) => {
      try {
        await client.delete(id, signal);
      } catch (error) {
        // An earlier attempt deleted the recording, but its response was lost.
        if (tries > 0 && error instanceof ClientError && error.status === 404) return;
        throw error;
      }
    });
    return null;
  } catch (error) {
    if (error instanceof ClientError) return error;
    throw error;
  }
}
