import { expect } from "bun:test";
import { type NatsConnection, PermissionViolationError } from "@nats-io/transport-node";

/** Collects operations that the broker refuses, until there are as many. */
export async function refusals(connection: NatsConnection, count: number): Promise<string[]> {
  const found: string[] = [];
  for await (const status of connection.status()) {
    if (status.type !== "error" || !(status.error instanceof PermissionViolationError)) continue;
    found.push(`${status.error.operation} ${status.error.subject}`);
    if (found.length === count) break;
  }
  return found;
}

/** Publishes and subscribes to each subject, all of which the broker must refuse. */
export async function expectRefused(
  connection: NatsConnection,
  publish: readonly string[],
  subscribe: readonly string[],
): Promise<void> {
  const refused = refusals(connection, publish.length + subscribe.length);
  for (const subject of publish) connection.publish(subject, "{}");
  for (const subject of subscribe) connection.subscribe(subject, { callback: () => {} });
  const expected = [...publish.map((each) => `publish ${each}`), ...subscribe.map((each) => `subscription ${each}`)];
  expect((await refused).toSorted()).toEqual(expected.toSorted());
}
