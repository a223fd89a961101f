import type { BrokerReport, FleetStatus } from "../../../fleet/index.ts";
import { lackingModelsText, ModelLibrary, productCatalogue } from "../../../models/index.ts";
import { programVersion } from "../../../program/index.ts";
import { fleetIdentity } from "../../../server/index.ts";
import { createLogger } from "../../../telemetry/index.ts";
import { count, messageOf } from "../../../text/index.ts";
import { type Check, type CheckContext, type Finding, ok, oncePerRun, problem, skipped, warning } from "../check.ts";

/** The broker as this machine reaches it. */
interface Reached {
  readonly roundTripMilliseconds: number;
  /** The broker's report about the fleet's stream or consumer, or why there is none; null: nothing was created. */
  readonly report: BrokerReport | Error | null;
  /** This machine's clock at the report, in milliseconds since 1970. */
  readonly reportedAt: number;
  /** The fleet as its coordinator sees it; null on a worker. */
  readonly status: FleetStatus | null;
}

/** A fleet as this machine sees it. */
interface Probe {
  readonly machine: string;
  readonly build: string;
  readonly isCoordinator: boolean;
  /** Why the broker cannot be used, or the broker. */
  readonly broker: Error | Reached;
}

const DAY_MILLISECONDS = 86_400_000;
const END_WARNING_DAYS = 30;
/** A part of a recording takes seconds; a slower broker delays each part noticeably. */
const SLOW_ROUND_TRIP_MILLISECONDS = 100;
/** A firewall that drops packets must not delay the report for long. */
const CONNECT_MILLISECONDS = 10_000;

const alone = skipped("this machine works alone (fleet.broker is not set)");
const unreachable = skipped("the broker cannot be used, see fleet.broker");

/** Connects to the broker, once for all checks of a run. */
const probeOf = oncePerRun(async ({ settings: { fleet }, machine: { now } }): Promise<Probe> => {
  const { Broker, COORDINATOR, fleetStatus } = await import("../../../fleet/index.ts");
  const { machine, build } = await fleetIdentity(fleet);
  const isCoordinator = machine === COORDINATOR;
  const own = { machine, build, isCoordinator };
  const connecting = Broker.connect({ ...fleet, url: fleet.broker, machine, log: createLogger("silent") });
  try {
    const broker = await Promise.race([connecting, timeout(fleet.broker)]);
    try {
      const read = isCoordinator ? broker.stream.report() : broker.stream.consumerReport(build, "none");
      const report = await read.catch((error: unknown) => new Error(messageOf(error)));
      const reportedAt = now();
      const status = isCoordinator ? await fleetStatus(broker, { version: programVersion, build }, now) : null;
      const roundTripMilliseconds = status?.roundTripMilliseconds ?? (await broker.roundTrip());
      return { ...own, broker: { roundTripMilliseconds, report, reportedAt, status } };
    } finally {
      await broker.close();
    }
  } catch (error) {
    return { ...own, broker: new Error(messageOf(error)) };
  }
});

async function timeout(url: string): Promise<never> {
  await Bun.sleep(CONNECT_MILLISECONDS);
  throw new Error(
    `the broker ${url} does not answer within ${CONNECT_MILLISECONDS / 1000} s; check that nats-server runs there and that no firewall blocks the port`,
  );
}

/** Separates a message into the fault and the way to mend it. */
function fault(message: string): Finding {
  const at = message.indexOf("; ");
  if (at < 0) return problem(message, { advice: "See docs/fleet.md." });
  const advice = message.slice(at + 2);
  return problem(message.slice(0, at), { advice: `${advice.charAt(0).toUpperCase()}${advice.slice(1)}.` });
}

const certificate: Check = {
  id: "fleet.certificate",
  title: "Fleet certificate",
  explanation:
    "In a fleet: whether this machine's certificate and key can be read, belong together, name this machine (fleet.machine), were issued by the fleet's authority, and remain valid for 30 days.",
  async run({ settings: { fleet }, machine }) {
    if (fleet.broker === "") return alone;
    if (fleet.ca === "" && fleet.certificate === "" && fleet.key === "") {
      return skipped("no certificates; only a broker on this machine can be used without them");
    }
    const { credentialsEnd, credentialsTrouble } = await import("../../../fleet/index.ts");
    const identity = await fleetIdentity(fleet);
    const trouble = credentialsTrouble({ ...fleet, machine: identity.machine }, machine.now());
    if (trouble !== null) return fault(trouble);
    const end = credentialsEnd(fleet);
    const summary = `${identity.machine}, until ${new Date(end).toISOString().slice(0, 10)}`;
    if (end - machine.now() > END_WARNING_DAYS * DAY_MILLISECONDS) return ok(summary);
    return warning(`the certificate of ${summary}, expires soon`, {
      advice: `Renew it where the fleet's directory is, and copy the new folder here: transcribe fleet init --directory DIRECTORY --renew ${fleet.pool || identity.machine}.`,
    });
  },
};

const broker: Check = {
  id: "fleet.broker",
  title: "Fleet broker",
  explanation:
    "In a fleet: whether the broker answers, accepts this machine's certificate (TLS), takes messages of 8 MiB (max_payload), answers quickly, and stores the stream in memory, so that no audio reaches its disk.",
  async run(context) {
    const { fleet } = context.settings;
    if (fleet.broker === "") return alone;
    const { broker: reached, isCoordinator } = await probeOf(context);
    if (reached instanceof Error) return fault(reached.message);
    const { report, roundTripMilliseconds } = reached;
    const summary = `${fleet.broker}, round trip ${roundTripMilliseconds} ms`;
    if (report instanceof Error) {
      return isCoordinator || !/permission/i.test(report.message) ? fault(report.message) : ok(summary);
    }
    if (report?.storage === "file") {
      return problem("the broker stores the fleet's stream in files, and audio must not reach its disk", {
        advice: "Use the nats.conf of transcribe fleet init. Remove the stream: nats stream rm TRANSCRIBE_WORK.",
      });
    }
    if (roundTripMilliseconds <= SLOW_ROUND_TRIP_MILLISECONDS) return ok(summary);
    return warning(summary, {
      advice: `Each part of a recording waits for several round trips. Place the broker in the same local network, so that a round trip takes less than ${SLOW_ROUND_TRIP_MILLISECONDS} ms.`,
    });
  },
};

const clock: Check = {
  id: "fleet.clock",
  title: "Fleet clock",
  explanation:
    "In a fleet: whether this machine's clock differs from the broker's by less than 60 s. The coordinator refuses a worker with a larger difference, and certificates depend on the clock. nats-server before 2.10 does not report its clock.",
  async run(context) {
    if (context.settings.fleet.broker === "") return alone;
    const { broker: reached } = await probeOf(context);
    if (reached instanceof Error) return unreachable;
    const { report, reportedAt } = reached;
    if (report === null || report instanceof Error || report.clock === null) {
      return skipped("the broker reports its clock only for a stream that the coordinator has created");
    }
    const { MAX_CLOCK_DIFFERENCE_MILLISECONDS } = await import("../../../fleet/index.ts");
    const difference = reportedAt - report.clock;
    const seconds = Math.abs(Math.round(difference / 1000));
    if (Math.abs(difference) <= MAX_CLOCK_DIFFERENCE_MILLISECONDS)
      return ok(`differs from the broker's by ${seconds} s`);
    return problem(`this machine's clock is ${seconds} s ${difference > 0 ? "ahead of" : "behind"} the broker's`, {
      advice: "Synchronize the clocks of all machines (NTP): timedatectl set-ntp true.",
    });
  },
};

const machines: Check = {
  id: "fleet.machines",
  title: "Fleet machines",
  explanation:
    "In a fleet: on the coordinator, whether its server answers, and which workers report, with their versions, models and problems; on a worker, whether a coordinator of this build uses the broker.",
  async run(context) {
    const { fleet } = context.settings;
    if (fleet.broker === "") return alone;
    const { broker: reached, machine, build } = await probeOf(context);
    if (reached instanceof Error) return unreachable;
    if (reached.status !== null) return findingOfWorkers(reached.status, context);
    if (reached.report instanceof Error) return unreachable;
    if (reached.report !== null) return ok(`${machine}: a coordinator of this build uses the broker`, `build ${build}`);
    // The coordinator creates the stream of a pool when the first worker of the pool reports.
    if (fleet.pool !== "") {
      return warning(
        `no worker of the pool ${fleet.pool} is present, or no coordinator of this build uses the broker`,
        {
          detail: [`this machine has version ${programVersion}, build ${build}`],
          advice:
            "Start the worker (transcribe worker), and run doctor again. If this remains, start the coordinator (transcribe serve), and install its version on this machine.",
        },
      );
    }
    return problem("no coordinator of this build has used the broker since its start", {
      detail: [`this machine has version ${programVersion}, build ${build}`],
      advice:
        "Start the coordinator (transcribe serve), and install the coordinator's version on this machine. transcribe fleet status on the coordinator shows the versions.",
    });
  },
};

function findingOfWorkers({ coordinator, machines }: FleetStatus, { paths, settings }: CheckContext): Finding {
  const catalogue = productCatalogue();
  const installed = new ModelLibrary(paths.models).list();
  const ids = new Map([...catalogue, ...installed].map(({ id, sha256 }) => [sha256, id]));
  const nameOf = (sha256: string) => ids.get(sha256) ?? sha256.slice(0, 12);
  const detail = machines.map(({ machine, version, models, lanes, busy }) => {
    return `${machine}: version ${version}, ${busy} of ${lanes} lanes busy, models ${models.map(nameOf).join(", ") || "none"}`;
  });
  const troubles = machines.flatMap(({ machine, problem: reason, missingModels }) => {
    if (reason !== null) return [`${machine}: ${reason}`];
    if (missingModels.length === 0) return [];
    return [`${machine}: ${lackingModelsText(missingModels, { catalogue, installed })}`];
  });
  if (coordinator === null) {
    return problem("the coordinator's server does not answer", {
      detail,
      advice: "Start it: transcribe serve, or systemctl start transcribe. Its log names the reason: fleet.broker_lost.",
    });
  }
  if (machines.length === 0) {
    const report = settings.fleet.work_here ? warning : problem;
    return report("no worker reports", {
      advice:
        "Start one on its machine: systemctl start transcribe-worker, or transcribe worker. Then run doctor there.",
    });
  }
  const lanes = machines.reduce((sum, each) => sum + (each.problem === null ? each.lanes : 0), 0);
  const summary = `${count(machines.length, "worker")}, ${count(lanes, "lane")}`;
  if (troubles.length === 0) return ok(summary, ...detail);
  return (lanes === 0 ? problem : warning)(`${summary}; ${count(troubles.length, "worker")} with a problem`, {
    detail,
    advice: `${troubles.join(". ")}.`,
  });
}

export const fleetChecks = [certificate, broker, clock, machines];
