import { expect } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { available } from "../../harness/checkout.ts";
import type { TestClient } from "../../harness/client.ts";
import { isFromSource } from "../../harness/program.ts";
import { type RunningProgram, StandbyPair, until } from "../../harness/standby-pair.ts";

const sample = join(import.meta.dir, "../../build/samples/jfk.mp3");
/** Whether the kills can run: they need the source, into which they are built. */
export const canKill = available("the kills of a server that a standby follows", sample) && isFromSource;

interface Scene {
  readonly pair: StandbyPair;
  readonly client: TestClient & { readonly accountId: string };
}

interface Operation {
  /** Makes what the request changes. @returns its id */
  readonly prepare: (scene: Scene) => string;
  readonly request: (client: TestClient, id: string) => Promise<Response>;
  /** Checks the standby's copy. @param answered the id in the answer, or that of what was changed; null without answer */
  readonly check: (scene: Scene, answered: string | null, id: string) => void;
}

interface Row {
  readonly id: string;
  readonly sizeBytes: number | null;
  readonly deletedAt: number | null;
}

const rowsIn = ({ pair }: Scene) =>
  pair.inCopy((database, uploads) => ({
    uploads,
    rows: database.query<Row, []>("SELECT id, size_bytes AS sizeBytes, deleted_at AS deletedAt FROM recordings").all(),
  }));

const operations: Readonly<Record<string, Operation>> = {
  create: {
    prepare: () => "",
    request: (client) => client.send(sample),
    check(scene, answered) {
      const { rows, uploads } = rowsIn(scene);
      if (answered !== null) expect(rows.map(({ id }) => id)).toContain(answered);
      // Whatever is in the database has its audio.
      for (const { id } of rows) {
        expect(uploads).toContain(id);
        expect(readFileSync(join(scene.pair.standbyDirectory, "uploads", id)).equals(readFileSync(sample))).toBe(true);
      }
    },
  },
  correction: {
    prepare: ({ pair, client }) => pair.completed(client.accountId),
    request: (client, id) =>
      client.fetch(`/transcriptions/${id}/speakers`, {
        method: "PATCH",
        headers: { "If-Match": '"0"', "Content-Type": "application/json" },
        body: JSON.stringify({ names: { A: "Ada" } }),
      }),
    check(scene, answered, id) {
      const names = scene.pair.inCopy((database) =>
        database.query<{ name: string }, [string]>("SELECT name FROM speaker_names WHERE recording_id = ?").all(id),
      );
      if (answered !== null) expect(names).toEqual([{ name: "Ada" }]);
      else expect(names.length).toBeLessThan(2);
    },
  },
  deletion: {
    prepare: ({ pair, client }) => pair.completed(client.accountId),
    request: (client, id) => client.fetch(`/transcriptions/${id}`, { method: "DELETE" }),
    check(scene, answered, id) {
      const row = rowsIn(scene).rows.find((each) => each.id === id);
      const isDeleted = row === undefined || row.deletedAt !== null;
      if (answered !== null) expect(isDeleted).toBe(true);
    },
  },
};

/** The requests of the table. */
export const killedRequests = Object.keys(operations);

/**
 * Kills a server at writes of a request, and checks after each kill what the standby has.
 * @param steps the numbers of the writes before which the server is killed, until one is not reached
 * @returns whether a write was not reached, so that the request was answered
 */
export async function killServer(name: string, steps: Iterable<number>): Promise<boolean> {
  const operation = operations[name];
  if (operation === undefined) throw new Error(`there is no request ${name}`);
  await using pair = await StandbyPair.create();
  const wait = { TRANSCRIBE_STANDBY_WAIT: "true", DIE_AT_STEP: stepPath(pair) };
  const serve = () => pair.serve(wait, join(import.meta.dir, "die-when-armed.ts"));
  let server = await serve();
  const standby = pair.follow();
  const scene = { pair, client: pair.client("acme") };
  let round = 0;
  for (const step of steps) {
    round += 1;
    if (round > 1) server = await serve();
    await until(standby, ({ event }) => event === "standby.following", round);
    const id = operation.prepare(scene);
    await arm(pair, server, step);
    const response = await operation.request(scene.client, id).catch(() => null);
    const isAlive = response !== null && server.child.signalCode === null;
    await server.end("SIGKILL");
    await until(standby, ({ event }) => event === "standby.connection_lost", round);
    if (response !== null && !response.ok) throw new Error(`${response.status}: ${await response.text()}`);
    const { id: created = id } = response?.status === 201 ? ((await response.json()) as { id?: string }) : {};
    operation.check(scene, response === null ? null : created, id);
    if (isAlive) return true;
  }
  return false;
}

/** Makes the server end itself before a write of its database. @param step number of writes from now on that pass */
async function arm(pair: StandbyPair, { child }: RunningProgram, step: number): Promise<void> {
  writeFileSync(stepPath(pair), `${step}`);
  child.kill("SIGUSR2");
  // The signal is handled before the next request.
  await fetch(`${pair.origin}/healthz`);
}

const stepPath = ({ path }: StandbyPair) => join(path, "step");
