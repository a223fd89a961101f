import { createLogger } from "../telemetry/index.ts";
import type { Broker } from "./broker.ts";
import { COORDINATOR } from "./broker-config.ts";
import { BrokerError } from "./connection.ts";
import { MachineLog } from "./machine-log.ts";
import {
  type CoordinatorStatus,
  coordinatorStatusSchema,
  PRESENCE_MILLISECONDS,
  parse,
  presenceSchema,
  senderOf,
  subjects,
} from "./messages.ts";
import { type Machine, Roster } from "./roster.ts";

/** A worker as `transcribe fleet status` shows it. */
export interface MachineStatus extends Machine {
  /** The worker's clock less this machine's. */
  readonly clockDifferenceSeconds: number;
  /** Digests of the models that the coordinator's operations may need and that the worker lacks. */
  readonly missingModels: readonly string[];
}

export interface FleetStatus {
  readonly roundTripMilliseconds: number;
  /** Null if the coordinator's server does not answer. */
  readonly coordinator: CoordinatorStatus | null;
  readonly machines: readonly MachineStatus[];
}

/** Time in which every worker reports at least once. */
const COLLECT_MILLISECONDS = PRESENCE_MILLISECONDS + 1000;

/**
 * Asks the coordinator, and collects the reports of the workers for about four seconds.
 * @param own the program's version and build, to compare the workers with if the coordinator does not answer
 * @throws {BrokerError} if this machine may not see the fleet, or the coordinator cannot use the broker
 */
export async function fleetStatus(
  broker: Broker,
  own: { readonly version: string; readonly build: string },
  now: () => number,
): Promise<FleetStatus> {
  const received: { readonly data: Uint8Array; readonly sender: string; readonly at: number }[] = [];
  const refused = Promise.withResolvers<never>();
  const collect = (data: Uint8Array, subject: string) => {
    received.push({ data, sender: senderOf(subject, 2), at: now() });
    return null;
  };
  broker.subscribe(subjects.allPresence, collect, () => refused.reject(new BrokerError(REFUSED)));
  broker.subscribe(subjects.allPoolPresence, collect, () => {});
  // The broker refuses a subscription before it answers the following ping.
  const roundTripMilliseconds = await Promise.race([broker.roundTrip(), refused.promise]);
  await broker.stream.report();
  const [coordinator] = await Promise.race([
    Promise.all([coordinatorStatus(broker), Bun.sleep(COLLECT_MILLISECONDS)]),
    refused.promise,
  ]);
  let clock = 0;
  const roster = new Roster(coordinator ?? own, () => clock, new MachineLog(createLogger("silent"), () => clock));
  const differences = new Map<string, number>();
  for (const { data, sender, at } of received) {
    try {
      const presence = parse(presenceSchema, data);
      if (presence.machine !== sender) continue;
      clock = at;
      roster.note(presence);
      differences.set(presence.machine, (presence.clock - at) / 1000);
    } catch {
      // The coordinator refuses and logs the same message.
    }
  }
  clock = now();
  const machines = roster.machines().map((machine) => ({
    ...machine,
    problem: machine.problem ?? coordinator?.paused.find((each) => each.machine === machine.machine)?.reason ?? null,
    clockDifferenceSeconds: differences.get(machine.machine) ?? 0,
    missingModels: (coordinator?.models ?? []).filter((model) => !machine.models.includes(model)),
  }));
  return { roundTripMilliseconds, coordinator, machines };
}

const REFUSED =
  "the broker accepts this machine's certificate, but only the coordinator's certificate may see the other machines; " +
  "run transcribe fleet status on the coordinator's machine";

async function coordinatorStatus(broker: Broker): Promise<CoordinatorStatus | null> {
  try {
    return parse(coordinatorStatusSchema, await broker.request(subjects.status(COORDINATOR), new Uint8Array()));
  } catch {
    return null;
  }
}
