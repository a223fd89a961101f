import { LEASE_STREAM, leaseSubject } from "./lease-stream.ts";
import { ALL_STREAMS_BYTES, MAX_MESSAGE_BYTES, streamOf, subjects } from "./messages.ts";

/** Name of the coordinator in its certificate. */
export const COORDINATOR = "coordinator";

/** Subjects that a machine may publish and receive. */
interface Permissions {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

/** Returns the permissions of the coordinator: it owns the streams and their consumers, and answers the workers. */
function coordinatorPermissions(pools: readonly string[]): Permissions {
  const queues = ["", ...pools];
  return {
    publish: [
      ...queues.map(subjects.allWork),
      subjects.allCancels,
      subjects.status(COORDINATOR),
      "$JS.API.INFO",
      ...queues
        .map(streamOf)
        .flatMap((stream) => [
          ...["INFO", "CREATE", "DELETE"].map((action) => `$JS.API.STREAM.${action}.${stream}`),
          `$JS.API.CONSUMER.CREATE.${stream}.>`,
          `$JS.API.CONSUMER.INFO.${stream}.>`,
        ]),
      leaseSubject,
      ...["CREATE", "MSG.GET"].map((action) => `$JS.API.STREAM.${action}.${LEASE_STREAM}`),
      "_INBOX.>",
    ],
    subscribe: [
      subjects.allStarted,
      subjects.allResults,
      subjects.allPresence,
      subjects.allPoolPresence,
      subjects.allStatus,
      `_INBOX.${COORDINATOR}.>`,
    ],
  };
}

/**
 * Returns the permissions of workers: they fetch work of one stream, and answer the coordinator.
 * @param machines name of the machine, or of all machines of a pool
 */
function workerPermissions(machines: string, stream: string, inboxes: string): Permissions {
  return {
    publish: [
      `$JS.API.CONSUMER.INFO.${stream}.*`,
      `$JS.API.CONSUMER.MSG.NEXT.${stream}.*`,
      `$JS.ACK.${stream}.>`,
      subjects.started("*", machines),
      subjects.result("*", machines),
      subjects.presence(machines),
    ],
    subscribe: [subjects.allCancels, inboxes],
  };
}

/**
 * Returns the text of nats.conf for a fleet. The broker knows a machine by its certificate's subject, so that nobody
 * connects without a certificate of the fleet. The workers of a pool have one certificate. File names are relative to the broker's working directory.
 */
export function brokerConfig({
  port,
  workers,
  pools,
}: {
  readonly port: number;
  readonly workers: readonly string[];
  readonly pools: readonly string[];
}): string {
  const users = [
    userBlock(COORDINATOR, coordinatorPermissions(pools)),
    ...workers.map((machine) => userBlock(machine, workerPermissions(machine, streamOf(""), `_INBOX.${machine}.>`))),
    ...pools.map((pool) => userBlock(pool, workerPermissions(`${pool}.*`, streamOf(pool), `_INBOX.${pool}.*.>`))),
  ];
  return `# Written by "transcribe fleet init"; --add, --pool, --renew and "transcribe fleet revoke" write it again.
# Start nats-server in this folder: nats-server -c nats.conf
server_name: transcribe_fleet
listen: "0.0.0.0:${port}"
max_payload: ${MAX_MESSAGE_BYTES}

# Streams exist in memory only: audio must not reach this machine's disk.
jetstream {
  store_dir: "jetstream"
  max_memory_store: ${ALL_STREAMS_BYTES}
  max_file_store: 1
}

tls {
  cert_file: "certificate.pem"
  key_file: "key.pem"
  ca_file: "ca.pem"
  verify_and_map: true
  timeout: 5
}

authorization {
  timeout: 5
  users: [
${users.join("\n")}
  ]
}
`;
}

function userBlock(name: string, { publish, subscribe }: Permissions): string {
  const list = (subjects: readonly string[]) =>
    subjects.map((subject) => `\n          ${JSON.stringify(subject)}`).join("");
  return `    {
      user: "CN=${name}"
      permissions: {
        publish: { allow: [${list(publish)}
        ] }
        subscribe: { allow: [${list(subscribe)}
        ] }
      }
    }`;
}

/**
 * Returns whether a broker that runs with one nats.conf needs a restart for another one, because a reload cannot change
 * the memory for streams. A fleet of an earlier version has less.
 */
export function needsRestart(before: string, after: string): boolean {
  const memoryOf = (text: string) => /^\s*max_memory_store: (\d+)$/m.exec(text)?.[1];
  return memoryOf(before) !== memoryOf(after);
}
