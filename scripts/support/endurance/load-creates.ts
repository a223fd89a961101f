import type { TestClient } from "../../../test/support/client.ts";
import { filesIn, type LoadTarget } from "./load-target.ts";

export interface CreatesAtOnce {
  /** Statuses by account, in the order of `clients`. */
  readonly statuses: readonly (readonly number[])[];
  /** Files left that no recording has. */
  readonly stray: number;
}

/** Sends a recording so many times at the same moment with each of these clients. */
export async function createAtOnce(
  target: LoadTarget,
  clients: readonly TestClient[],
  each: number,
  path: string,
): Promise<CreatesAtOnce> {
  const uploadsBefore = filesIn(target, "uploads");
  const statuses = await Promise.all(
    clients.map((client) => Promise.all(Array.from({ length: each }, async () => (await client.send(path)).status))),
  );
  const taken = statuses.flat().filter((status) => status === 201).length;
  return { statuses, stray: filesIn(target, "incoming") + filesIn(target, "uploads") - uploadsBefore - taken };
}
