import { Command } from "commander";
import type { TranscriptionResource } from "../../api-contract/index.ts";
import { values } from "../../database/index.ts";
import { CommandError, exitCodes, throwAll } from "../command-error.ts";
import { interruptedWith } from "../interrupts.ts";
import { type JsonOption, print } from "../output.ts";
import { each, resourceId, seconds } from "../parse-option.ts";
import { printable } from "../printable.ts";
import { ProgressBoard } from "../progress-board.ts";
import { failureTexts, progressText } from "../recording-texts.ts";
import type { ApiClient } from "./api-client.ts";
import { addServerOptions, LONG_OUTAGE_SECONDS, withClient } from "./connection.ts";

/** transcribe watch [ID…] */
export function watchCommand(): Command {
  const command = new Command("watch")
    .description("Follow recordings until they are completed or failed; without ids, all queued and processing ones.")
    .argument("[id...]", "ids of recordings", each(resourceId))
    .option("--every <seconds>", "pause between polls (default: as the API recommends)", seconds)
    .option("--json", "print the transcriptions as JSON at the end");
  return addServerOptions(command).action((ids: string[], options: JsonOption & { every?: number }) =>
    withClient(command, (client) => watch(client, ids, options), LONG_OUTAGE_SECONDS),
  );
}

async function watch(
  client: ApiClient,
  named: readonly string[],
  { every, json }: JsonOption & { every?: number },
): Promise<void> {
  // Checks the key first, so that a refused key is reported once and not for each id.
  await client.checkKey();
  using board = new ProgressBoard();
  const open = named.length > 0 ? [] : await client.list(Number.POSITIVE_INFINITY, values.openStates.join(","));
  const ids = named.length > 0 ? [...new Set(named)] : open.map(({ id }) => id).reverse();
  if (ids.length === 0) board.note("no recording is queued or processing");
  const ended: TranscriptionResource[] = [];
  const faults: CommandError[] = [];
  let following = ids.length;
  const followOne = async (id: string) => {
    const row = board.row(id);
    try {
      const transcription = await client.follow(id, {
        everySeconds: every,
        atOnce: true,
        together: () => following,
        onPoll: ({ status, progress }) => row.show(progressText(progress.step ?? status), progress.percent),
        onPause: () => void row.show("Waiting for the server", null),
      });
      ended.push(transcription);
      const { status, failure_reason, source } = transcription;
      const reason = status === "failed" ? `: ${failureTexts[failure_reason ?? "internal"]}` : "";
      const line = `${id}  ${status}  ${printable(source.name ?? source.url ?? "")}${reason}`;
      if (json !== true) board.above(() => process.stdout.write(`${line}\n`));
      if (status === "failed") faults.push(new CommandError(`${id} failed${reason}`, exitCodes.recordingFailed));
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      faults.push(new CommandError(`${id}: ${error.message}`, error.exitCode));
    } finally {
      following -= 1;
      row.end();
    }
  };
  try {
    await Promise.all(ids.map(followOne));
  } catch (error) {
    throw interruptedWith(error, "interrupted; the server continues to process the recordings");
  } finally {
    board[Symbol.dispose]();
    ended.sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id));
    if (json === true) print({ json }, ended, () => "");
  }
  throwAll(faults);
}
