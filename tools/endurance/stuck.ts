import { join } from "node:path";
import type { TestClient } from "../../harness/client.ts";
import { childrenOf } from "../../harness/processes.ts";
import { TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import type { Row } from "./row.ts";
import { makeSmallRecordings } from "./small-recordings.ts";

/**
 * stuck: stops a worker with SIGSTOP, when it is idle and during a chunk. The server must report it, and another worker
 * must process the chunk.
 */
export async function stuck(): Promise<Row[]> {
  using directory = temporaryDirectory();
  await makeSmallRecordings(directory.path);
  await using server = new TestServer();
  await server.start();
  const client = server.client("stuck");
  const path = join(directory.path, "chunks.wav");
  const undisturbed = await client.transcribe(path, { language: "en" });

  const worker = () => childrenOf(server.pid, "__worker")[0] ?? 0;
  const isReady = async (wanted: boolean) => (await fetch(`${server.origin}/readyz`)).ok === wanted;
  const secondsUntil = async (isTrue: () => Promise<boolean> | boolean) => {
    const since = performance.now();
    await server.until(isTrue, 200);
    return (performance.now() - since) / 1000;
  };
  const over = "SIGSTOP of the worker";
  const seconds = (measured: string, value: number, most: number): Row => ({
    ...{ measured: `${measured}, s`, value: value.toFixed(1), over },
    ...{ target: `at most ${most}`, ok: value <= most },
  });

  const idle = worker();
  process.kill(idle, "SIGSTOP");
  const idleNoticed = await secondsUntil(() => isReady(false));
  process.kill(idle, "SIGCONT");
  const idleBack = await secondsUntil(() => isReady(true));

  const { id } = await client.create(path, { language: "en" });
  await server.until(async () => (await progressOf(client, id)) === "transcribe");
  await Bun.sleep(500);
  const stopped = worker();
  process.kill(stopped, "SIGSTOP");
  const noticed = await secondsUntil(() => isReady(false));
  const alive = (await fetch(`${server.origin}/healthz`)).status;
  const ended = noticed + (await secondsUntil(() => server.log.some(({ event }) => event === "engine.stalled")));
  const again = await client.waitUntilEnded(id);
  const isEqual = again.status === "completed" && Bun.deepEquals(await client.segments(id), undisturbed.segments);
  return [
    seconds("idle: until /readyz reports it", idleNoticed, 10),
    seconds("idle: until ready again after SIGCONT", idleBack, 10),
    seconds("during a chunk: until /readyz reports it", noticed, 45),
    seconds("during a chunk: until the worker is killed", ended, 75),
    { measured: "/healthz in the meantime", value: String(alive), over, target: "200", ok: alive === 200 },
    {
      measured: "result, compared with an undisturbed run",
      value: isEqual ? "equal" : again.status,
      over,
      target: "equal",
      ok: isEqual,
    },
  ];
}

async function progressOf(client: TestClient, id: string): Promise<string | null> {
  return (await client.get(id)).progress.step;
}
