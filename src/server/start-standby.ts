import { programVersion } from "../program/index.ts";
import { listenForStandbys, readCredentials, StandbySource, writeStatus } from "../replication/index.ts";
import { messageOf } from "../text/index.ts";
import type { ServerData } from "./open-data.ts";
import { StartError } from "./start-error.ts";

const STATUS_MILLISECONDS = 1_000;
/** Maximum time for the last changes to reach the standby when the server stops. */
const LAST_CHANGES_MILLISECONDS = 5_000;

/** Lets a standby follow the server of the settings. */
export async function startStandby({ settings, running, dataDirectory, log, now }: ServerData) {
  const { listen } = settings.standby;
  if (listen === "") return null;
  const source = new StandbySource({
    paths: dataDirectory,
    maxLogBytes: () => running.values.standby.log_bytes,
    log,
    now,
  });
  const listener = await listenForStandbys({
    address: listen,
    credentials: readCredentials(settings.standby),
    log,
    onStandby: (socket, name) => void source.serve(socket, name),
  }).catch((error: unknown) => {
    source.stop();
    throw new StartError(`standby.listen: ${messageOf(error)}`);
  });
  // A standby that followed before the start can continue if the log is still there.
  source.hold();
  log.info({ event: "standby.listening", address: listener.address });
  const status = () => {
    const { standby, session } = source.status();
    return {
      role: "server" as const,
      pid: process.pid,
      version: programVersion,
      from: standby,
      phase: session?.phase ?? ("none" as const),
      isComplete: session?.phase === "following",
      lastContactAt: session === null ? null : Math.round(now() - session.lastContactMilliseconds),
      behindBytes: session?.behindBytes ?? null,
      delaySeconds: session === null ? null : session.delayMilliseconds / 1000,
    };
  };
  const timer = setInterval(() => {
    try {
      writeStatus(dataDirectory, status());
    } catch {
      // A full disk has other signs.
    }
  }, STATUS_MILLISECONDS);
  return {
    source,
    status,
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      listener.close();
      await Promise.race([source.confirmation(), Bun.sleep(LAST_CHANGES_MILLISECONDS)]);
      source.stop();
    },
  };
}
