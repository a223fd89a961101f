import type { TestClient } from "../../harness/client.ts";
import { childrenOf } from "../../harness/processes.ts";
import { makeRecordingOfChunks } from "../../harness/sample-recordings.ts";
import { TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { atMost, type Row, row } from "./rows.ts";

/**
 * stuck: stops a worker with SIGSTOP, when it is idle and during a chunk. The server must report it, and another worker
 * must process the chunk.
 */
export async function stuck(): Promise<Row[]> {
  using directory = temporaryDirectory();
  const path = await makeRecordingOfChunks(directory.path);
  await using server = new TestServer();
  await server.start();
  const client = server.client("stuck");
  const undisturbed = await client.transcribe(path, { language: "en" });

  const worker = () => childrenOf(server.pid, "__worker")[0] ?? 0;
  const isReady = async (wanted: boolean) => (await fetch(`${server.origin}/readyz`)).ok === wanted;
  const secondsUntil = async (isTrue: () => Promise<boolean> | boolean) => {
    const since = performance.now();
    await server.until(isTrue, 200);
    return (performance.now() - since) / 1000;
  };
  const idle = worker();
  process.kill(idle, "SIGSTOP");
  const idleNoticed = await secondsUntil(() => isReady(false));
  process.kill(idle, "SIGCONT");
  const idleBack = await secondsUntil(() => isReady(true));

  const { id } = await client.create(path, { language: "en" });
  await server.until(async () => (await stepOf(client, id)) === "transcribe");
  await Bun.sleep(500);
  process.kill(worker(), "SIGSTOP");
  const noticed = await secondsUntil(() => isReady(false));
  const alive = (await fetch(`${server.origin}/healthz`)).status;
  const ended = noticed + (await secondsUntil(() => server.log.some(({ event }) => event === "engine.stalled")));
  const again = await client.waitUntilEnded(id);
  const isEqual = again.status === "completed" && Bun.deepEquals(await client.segments(id), undisturbed.segments);
  const over = "SIGSTOP of the worker";
  return [
    atMost("idle: until /readyz reports it", idleNoticed, 10, over),
    atMost("idle: until ready again after SIGCONT", idleBack, 10, over),
    atMost("during a chunk: until /readyz reports it", noticed, 45, over),
    atMost("during a chunk: until the worker is killed", ended, 75, over),
    row("/healthz in the meantime", alive, over, "200", alive === 200),
    row("result, compared with an undisturbed run", isEqual ? "equal" : again.status, over, "equal", isEqual),
  ];
}

async function stepOf(client: TestClient, id: string): Promise<string | null> {
  return (await client.get(id)).progress.step;
}
