import { Command } from "commander";
import type { TranscriptionResource } from "../../http/index.ts";
import { CommandError, commonExitCode, type ExitCode, exitCodes } from "../command-error.ts";
import { print } from "../output.ts";
import { printable } from "../printable.ts";
import { ProgressBoard } from "../progress/index.ts";
import { seconds } from "../whole-number.ts";
import { addServerOptions } from "./connection.ts";
import { failureWords } from "./failure-words.ts";
import { followRecording } from "./follow.ts";
import { interruptedWith } from "./interruptible.ts";
import { listRecordings } from "./list-recordings.ts";
import { inSession, type Session } from "./session.ts";

interface WatchOptions {
  readonly every?: number;
  readonly json?: boolean;
}

/** Maximum time that a server may fail or be unreachable; longer than a restart takes. */
const troubleSeconds = 600;

/** transcribe watch [ID…] */
export function watchCommand(): Command {
  const command = new Command("watch")
    .description("Follow recordings until they have ended; without ids all that are queued or processing now.")
    .argument("[id...]", "ids of recordings")
    .option("--every <seconds>", "pause between polls (default: as the API recommends)", seconds)
    .option("--json", "print the transcriptions as JSON when all have ended");
  return addServerOptions(command).action((ids: string[], options: WatchOptions) =>
    inSession(command, (session) => watch(session, ids, options), troubleSeconds),
  );
}

async function watch(session: Session, named: readonly string[], { every, json }: WatchOptions): Promise<void> {
  // Checks the key first, so that a refused key is reported once and not for each id.
  await session.persistence.run(() => session.client.greet(session.signal));
  using board = new ProgressBoard();
  const ids = named.length > 0 ? [...new Set(named)] : await openIds(session);
  if (ids.length === 0) board.note("no recording is queued or processing");
  const ended: TranscriptionResource[] = [];
  const faults: { message: string; exitCode: ExitCode }[] = [];
  let following = ids.length;
  const followOne = async (id: string) => {
    const row = board.row(id);
    try {
      const transcription = await followRecording(session.client, session.persistence, id, {
        ...{ everySeconds: every, atOnce: true, together: () => following },
        onPoll: ({ status, progress }) => row.show(progress.step ?? status, progress.percent),
        onPause: () => row.show("waits for the server", null),
      });
      ended.push(transcription);
      const { status, failure_reason, source } = transcription;
      const words = status === "failed" ? `: ${failureWords[failure_reason ?? "internal"]}` : "";
      const line = `${id}  ${status}  ${printable(source.name ?? source.url ?? "")}${words}`;
      if (json !== true) board.above(() => process.stdout.write(`${line}\n`));
      if (status === "failed") faults.push({ message: `${id} failed${words}`, exitCode: exitCodes.recordingFailed });
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      faults.push({ message: `${id}: ${error.message}`, exitCode: error.exitCode });
    } finally {
      following -= 1;
      row.end();
    }
  };
  try {
    await Promise.all(ids.map(followOne));
  } catch (error) {
    throw interruptedWith(error, "interrupted; what was followed goes on without you");
  } finally {
    board[Symbol.dispose]();
    if (json === true)
      print(
        true,
        ended.sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id)),
        () => "",
      );
  }
  if (faults.length === 0) return;
  const message = faults.map((fault) => fault.message).join("\ntranscribe: ");
  throw new CommandError(message, commonExitCode(faults.map(({ exitCode }) => exitCode)));
}

async function openIds({ client, persistence }: Session): Promise<string[]> {
  const open = await listRecordings(client, persistence, {
    status: "queued,processing",
    limit: Number.POSITIVE_INFINITY,
  });
  return open.map(({ id }) => id).reverse();
}
