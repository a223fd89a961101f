import { followLog } from "../database/index.ts";
import { programVersion } from "../program/index.ts";
import {
  listenForStandbys,
  readCredentials,
  StandbySource,
  type StandbyStatus,
  writeStatus,
} from "../replication/index.ts";
import { findDamage, isUnchecked, storeUnchecked } from "../standby/index.ts";
import { messageOf } from "../text/index.ts";
import type { ServerData } from "./open-data.ts";
import { StartError } from "./start-error.ts";

const STATUS_MILLISECONDS = 1_000;
/** Maximum time that a deletion waits until its data is gone from the log. */
const EMPTY_MILLISECONDS = 10_000;
/** Maximum time for the last changes to reach the standby when the server stops. */
const LAST_CHANGES_MILLISECONDS = 5_000;
/** Time after the start, and after the standby was lost, during which nobody is warned of its absence. */
const ABSENCE_MILLISECONDS = 60_000;

/** The server's standby, as its other parts see it. */
export type ServerStandby = Awaited<ReturnType<typeof startStandby>>;

/** Lets a standby follow the server, if the settings name an address for it. */
export async function startStandby({ settings, running, dataDirectory, store, log, now }: ServerData) {
  await using stack = new AsyncDisposableStack();
  const check = stack.use(checkDatabase({ dataDirectory, log, now }));
  const source = settings.standby.listen === "" ? null : await listen({ settings, running, dataDirectory, log, now });
  if (source !== null) {
    stack.defer(() => source.stop());
    stack.defer(
      followLog(store, {
        isHolding: () => source.isHolding,
        empty: () => within(EMPTY_MILLISECONDS, source.emptyLog()),
      }),
    );
    // Whatever closes later writes nothing that a client learns of.
    stack.defer(async () => void (await within(LAST_CHANGES_MILLISECONDS, source.confirmation())));
  }
  let followedAt = now();
  const status = (): Omit<StandbyStatus, "writtenAt"> => {
    const { standby, session } = source?.status() ?? { standby: null, session: null };
    if (session?.phase === "following") followedAt = now();
    return {
      role: "server",
      pid: process.pid,
      version: programVersion,
      from: standby,
      phase: session?.phase ?? "none",
      isComplete: session?.phase === "following",
      lastContactAt: session === null ? null : Math.round(now() - session.lastContactMilliseconds),
      behindBytes: session?.behindBytes ?? null,
      delaySeconds: session === null ? null : session.delayMilliseconds / 1000,
    };
  };
  if (source !== null) {
    const write = () => {
      try {
        writeStatus(dataDirectory, status(), now());
      } catch {
        // A full disk has other signs.
      }
    };
    write();
    const timer = setInterval(write, STATUS_MILLISECONDS);
    stack.defer(() => clearInterval(timer));
  }
  const isRequired = () => source !== null && running.values.standby.wait;
  const started = stack.move();
  return {
    /** Returns the state of the standby; null if the settings have none. */
    status() {
      if (source === null) return null;
      const { behindBytes, delaySeconds, isComplete } = status();
      return { behindBytes, delaySeconds, unfollowedSeconds: isComplete ? 0 : (now() - followedAt) / 1000 };
    },
    /** Returns why no change is accepted, as text for people; null if changes are accepted. */
    refusal() {
      if (!isRequired() || source?.isFollowed === true) return null;
      return "The standby is not connected or has no complete copy yet, and changes wait for it (standby.wait).";
    },
    /** Returns why data is not safe, or not on a second machine, as text for people; null if it is. */
    warning() {
      if (check.isDamaged) return "the database is damaged; see transcribe doctor";
      if (source === null || source.isFollowed) return null;
      if (isRequired()) return "changes are refused, because the standby does not follow this server";
      return now() - followedAt < ABSENCE_MILLISECONDS ? null : "the standby does not follow this server";
    },
    /** Resolves when the standby has what was written before: with null, or with a reason why that is unknown. */
    async confirmed() {
      if (source === null || !isRequired() || (await source.confirmation())) return null;
      log.warn({ event: "standby.unconfirmed" });
      return "The change was made, but the standby has not confirmed it. Send the request again.";
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

/** Checks the database in the background if the promotion that made this server had too little time for it. */
function checkDatabase({ dataDirectory, log, now }: Pick<ServerData, "dataDirectory" | "log" | "now">) {
  const stopping = new AbortController();
  const state = { isDamaged: false, [Symbol.dispose]: () => stopping.abort() };
  const check = async () => {
    const begun = now();
    const damage = await findDamage(dataDirectory.databasePath, false, stopping.signal);
    if (damage !== null) {
      state.isDamaged = true;
      return log.error({ event: "standby.database_damaged", trouble: damage });
    }
    storeUnchecked(dataDirectory, false);
    log.info({ event: "standby.database_checked", seconds: (now() - begun) / 1000 });
  };
  if (!isUnchecked(dataDirectory)) return state;
  void check().catch((error: unknown) => {
    // The next start repeats it.
    if (!stopping.signal.aborted) log.error({ event: "standby.database_not_checked", trouble: messageOf(error) });
  });
  return state;
}

type ListenParts = Pick<ServerData, "settings" | "running" | "dataDirectory" | "log" | "now">;

async function listen({ settings, running, dataDirectory, log, now }: ListenParts): Promise<StandbySource> {
  const { standby } = settings;
  const paths = dataDirectory;
  const source = new StandbySource({
    paths,
    maxLogBytes: () => running.values.standby.log_bytes,
    knowsAudio: true,
    log,
    now,
  });
  try {
    // A standby that followed before the start can continue if the log is still there.
    source.hold();
    const listener = await listenForStandbys({
      address: standby.listen,
      credentials: readCredentials(standby),
      log,
      onStandby: (socket, name) => void source.serve(socket, name),
    });
    source.onStop(() => listener.close());
    log.info({ event: "standby.listening", address: listener.address });
    return source;
  } catch (error) {
    source.stop();
    throw new StartError(`standby.listen: ${messageOf(error)}`);
  }
}

/** Resolves with the result, or with false when the time is over. */
async function within(milliseconds: number, result: Promise<boolean>): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), milliseconds);
  return await Promise.race([result, late.promise]).finally(() => clearTimeout(timer));
}
