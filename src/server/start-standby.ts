import { followLog } from "../database/index.ts";
import type { ChangeGate } from "../disk/index.ts";
import { programVersion } from "../program/index.ts";
import {
  listenForStandbys,
  readCredentials,
  StandbySource,
  type StandbyStatus,
  writeStatus,
} from "../replication/index.ts";
import { answerConfirmationRequests, findDamage, isUnchecked, storeUnchecked } from "../standby/index.ts";
import { messageOf } from "../text/index.ts";
import type { ServerData } from "./open-data.ts";
import { StartError } from "./start-error.ts";

const STATUS_MILLISECONDS = 1_000;
/** Interval between two looks at the files of the certificate. */
const CERTIFICATE_MILLISECONDS = 60_000;
/** Maximum time that a deletion waits until its data is gone from the log. */
const EMPTY_MILLISECONDS = 10_000;
/** Maximum time for the last changes to reach the standby when the server stops. */
const LAST_CHANGES_MILLISECONDS = 5_000;
/** Maximum time that a create waits for its audio's way to the standby, if changes do not wait for the standby. */
const AUDIO_MILLISECONDS = 10_000;
/** Time after the start, and after the standby was lost, during which nobody is warned of its absence. */
const ABSENCE_MILLISECONDS = 60_000;

/** The server's standby, as its other parts see it. */
export type ServerStandby = Awaited<ReturnType<typeof startStandby>>;

/** Lets a standby follow the server, if the settings name an address for it. */
export async function startStandby(data: ServerData) {
  const { settings, running, dataDirectory, store, chores, keyUsage, log, now } = data;
  await using stack = new AsyncDisposableStack();
  const check = stack.use(checkDatabase(data));
  const listening = settings.standby.listen === "" ? null : await listen(data);
  const source = listening?.source ?? null;
  if (listening !== null) {
    const renewals = setInterval(() => listening.listener.renew(), CERTIFICATE_MILLISECONDS);
    stack.defer(() => clearInterval(renewals));
  }
  if (source !== null) {
    stack.defer(() => source.stop());
    stack.defer(
      followLog(store, {
        isHolding: () => source.isHolding,
        empty: () => within(EMPTY_MILLISECONDS, source.emptyLog()),
      }),
    );
    // Nothing is written after this, so the standby can continue after the next start.
    stack.defer(async () => {
      chores.run("last use of keys", () => keyUsage.flush());
      await within(
        LAST_CHANGES_MILLISECONDS,
        source.finish().then(() => true),
      );
    });
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
  const gate: ChangeGate = {
    refusal() {
      if (!isRequired() || source?.isFollowed === true) return null;
      return "The standby is not connected or has no complete copy yet, and changes wait for it (standby.wait).";
    },
    async confirmed() {
      if (source === null || !isRequired() || (await source.confirmation())) return null;
      log.warn({ event: "standby.unconfirmed" });
      return "The change was made, but the standby has not confirmed it. Send the request again.";
    },
  };
  if (source !== null) stack.defer(answerConfirmationRequests(dataDirectory, gate, isRequired));
  const started = stack.move();
  return {
    ...gate,
    /** Returns the state of the standby; null if the settings have none. */
    status() {
      if (source === null) return null;
      const { behindBytes, delaySeconds, isComplete } = status();
      return { behindBytes, delaySeconds, unfollowedSeconds: isComplete ? 0 : (now() - followedAt) / 1000 };
    },
    /** Returns why data is not safe, or not on a second machine, as text for people; null if it is. */
    warning() {
      if (check.isDamaged) return "the database is damaged; see transcribe doctor";
      if (source === null || source.isFollowed) return null;
      if (isRequired()) return "changes are refused, because the standby does not follow this server";
      return now() - followedAt < ABSENCE_MILLISECONDS ? null : "the standby does not follow this server";
    },
    /** Uses renewed certificates for further connections of a standby. */
    renewCertificate: () => listening?.listener.renew(),
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

/** Checks the database in the background if the promotion that made this server had too little time for it. */
function checkDatabase({ dataDirectory, log, now }: ServerData) {
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

async function listen({ settings, running, dataDirectory, log, now }: ServerData) {
  const { standby } = settings;
  const paths = dataDirectory;
  const source = new StandbySource({
    paths,
    maxLogBytes: () => running.values.standby.log_bytes,
    knowsAudio: true,
    maxAudioWait: () => (running.values.standby.wait ? null : AUDIO_MILLISECONDS),
    log,
    now,
  });
  try {
    // A standby that followed before the start can continue if nothing else has changed the database.
    source.hold();
    const listener = await listenForStandbys({
      address: standby.listen,
      credentials: () => readCredentials(standby),
      log,
      onStandby: (socket, name) => void source.serve(socket, name),
    });
    source.onStop(() => listener.close());
    log.info({ event: "standby.listening", address: listener.address });
    return { source, listener };
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
