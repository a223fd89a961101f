import { MAX_MESSAGE_BYTES, STREAM, STREAM_BYTES, subjects } from "./messages.ts";

/** Name of the coordinator in its certificate. */
export const COORDINATOR = "coordinator";

/** Subjects that a machine may publish and receive. */
interface Permissions {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

/** Returns the permissions of the coordinator: it owns the stream and its consumers, and answers the workers. */
function coordinatorPermissions(): Permissions {
  return {
    publish: [
      subjects.allWork,
      subjects.allCancels,
      subjects.status(COORDINATOR),
      "$JS.API.INFO",
      ...["INFO", "CREATE", "DELETE"].map((action) => `$JS.API.STREAM.${action}.${STREAM}`),
      `$JS.API.CONSUMER.CREATE.${STREAM}.>`,
      `$JS.API.CONSUMER.INFO.${STREAM}.>`,
      "_INBOX.>",
    ],
    subscribe: [
      subjects.allStarted,
      subjects.allResults,
      subjects.allPresence,
      subjects.allStatus,
      `_INBOX.${COORDINATOR}.>`,
    ],
  };
}

/** Returns the permissions of a worker: it fetches work, and answers the coordinator. */
function workerPermissions(machine: string): Permissions {
  return {
    publish: [
      `$JS.API.CONSUMER.INFO.${STREAM}.*`,
      `$JS.API.CONSUMER.MSG.NEXT.${STREAM}.*`,
      `$JS.ACK.${STREAM}.>`,
      subjects.started("*", machine),
      subjects.result("*", machine),
      subjects.presence(machine),
    ],
    subscribe: [subjects.allCancels, `_INBOX.${machine}.>`],
  };
}

/**
 * Returns the text of nats.conf for a fleet. The broker knows a machine by its certificate's subject, so that nobody
 * connects without a certificate of the fleet. File names are relative to the broker's working directory.
 */
export function brokerConfig({
  port,
  workers,
}: {
  readonly port: number;
  readonly workers: readonly string[];
}): string {
  const users = [
    userBlock(COORDINATOR, coordinatorPermissions()),
    ...workers.map((machine) => userBlock(machine, workerPermissions(machine))),
  ];
  return `# Written by "transcribe fleet init"; --add, --renew and "transcribe fleet revoke" write it again.
# Start nats-server in this folder: nats-server -c nats.conf
server_name: transcribe_fleet
listen: "0.0.0.0:${port}"
max_payload: ${MAX_MESSAGE_BYTES}

# Streams exist in memory only: audio must not reach this machine's disk.
jetstream {
  store_dir: "jetstream"
  max_memory_store: ${STREAM_BYTES}
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

function userBlock(machine: string, { publish, subscribe }: Permissions): string {
  const list = (subjects: readonly string[]) =>
    subjects.map((subject) => `\n          ${JSON.stringify(subject)}`).join("");
  return `    {
      user: "CN=${machine}"
      permissions: {
        publish: { allow: [${list(publish)}
        ] }
        subscribe: { allow: [${list(subscribe)}
        ] }
      }
    }`;
}
