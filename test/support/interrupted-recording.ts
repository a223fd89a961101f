import { Database } from "bun:sqlite";
import { join } from "node:path";
import type { TestClient } from "../../harness/client.ts";
import { childrenOf, isAlive } from "../../harness/processes.ts";
import type { TestServer } from "../../harness/server.ts";
import { tinyLanguage } from "./tiny-recognizer.ts";

/** Uploads after which a recording that is always completed too early counts as a fault. */
const MAX_UPLOADS = 5;

/** Returns the parts of a recording's step that the database contains. */
export function storedParts(server: TestServer, step: string, id: string): number[] {
  using database = new Database(join(server.dataDirectory, "transcribe.db"), { readonly: true });
  return database
    .query<{ part: number }, [string, string]>(
      "SELECT part FROM checkpoints WHERE step = ? AND recording_id = ? ORDER BY part",
    )
    .all(step, id)
    .map(({ part }) => part);
}

/** The worker of a server, which is stopped (SIGSTOP) until it is resumed or this is disposed of. It needs /proc. */
export class StoppedWorker implements Disposable {
  readonly pid: number;

  /** Stops the worker of a server. */
  constructor(server: TestServer) {
    const [pid] = childrenOf(server.pid, "__worker");
    if (pid === undefined) throw new Error("the server has no worker");
    this.pid = pid;
    process.kill(pid, "SIGSTOP");
  }

  /** Lets the worker continue, if it still exists. */
  resume(): void {
    if (isAlive(this.pid)) process.kill(this.pid, "SIGCONT");
  }

  /** Resolves when the worker has exited. */
  async exited(): Promise<void> {
    while (isAlive(this.pid)) await Bun.sleep(20);
  }

  [Symbol.dispose](): void {
    this.resume();
  }
}

/** A file to upload, and the number of its chunks. */
interface Upload {
  readonly path: string;
  readonly chunks: number;
}

/** Uploads a recording to an idle server and stops the worker between two of its chunks. */
export async function interrupt(
  server: TestServer,
  client: TestClient,
  path: string,
  chunks: number,
): Promise<{ readonly id: string; readonly worker: StoppedWorker }> {
  const { ids, worker } = await interruptAll(server, client, [{ path, chunks }]);
  return { id: ids[0] ?? "", worker };
}

/**
 * Uploads recordings to an idle server, and stops the worker between two chunks of each. Uploads them again if the
 * worker was faster than this process.
 */
export async function interruptAll(
  server: TestServer,
  client: TestClient,
  uploads: readonly Upload[],
): Promise<{ readonly ids: readonly string[]; readonly worker: StoppedWorker }> {
  for (let attempt = 0; attempt < MAX_UPLOADS; attempt++) {
    const ids: string[] = [];
    for (const { path } of uploads) ids.push((await client.create(path, tinyLanguage)).id);
    const isEvery = (isTrue: (parts: number, upload: Upload) => boolean) =>
      uploads.every((upload, index) => isTrue(storedParts(server, "transcribe", ids[index] ?? "").length, upload));
    await server.until(async () => isEvery((parts) => parts > 0) || (await hasOneEnded(client, ids)), 2);
    const worker = new StoppedWorker(server);
    if (isEvery((parts, { chunks }) => parts > 0 && parts < chunks)) return { ids, worker };
    worker.resume();
    for (const id of ids) await client.waitUntilEnded(id);
    await server.untilCleanedUp();
  }
  throw new Error(`${MAX_UPLOADS} times a recording was completed before it could be interrupted`);
}

async function hasOneEnded(client: TestClient, ids: readonly string[]): Promise<boolean> {
  const recordings = await Promise.all(ids.map((id) => client.get(id)));
  return recordings.some(({ status }) => status === "completed" || status === "failed");
}
