import { type Account, audit, countAccounts, getAccount } from "../../accounts/index.ts";
import { transact } from "../../database/index.ts";
import { MachineError } from "../../disk/index.ts";
import { type CreatePlace, IntakeError, requireActive } from "../../intake/index.ts";
import { newRecordingId } from "../../recordings/index.ts";
import { messageOf } from "../../text/index.ts";
import { parseAccountLimits } from "../../usage/index.ts";
import {
  type LiveEnd,
  LiveError,
  type LiveListener,
  type LiveOptions,
  type LiveSender,
  type LiveSession,
  type LiveSessions,
  type ResumedSession,
} from "../contract.ts";
import { checkOptions } from "../options.ts";
import type { OpenSession, ReportedEnd } from "../session/live-session.ts";
import { LiveRows } from "../store/index.ts";
import { EndConfirmation } from "./end-confirmation.ts";
import { Finisher } from "./finish-session.ts";
import { nameSpeakers } from "./name-speakers.ts";
import { type FoundSession, recoverSessions } from "./recover-sessions.ts";
import type { LiveServices } from "./services.ts";
import { languagesOf, startSession } from "./start-session.ts";

/** Numbers of checks, which are made once a second, between two of a kind. */
const CHECKS_PER_ACCESS_CHECK = 5;
const CHECKS_PER_CHARGE = 10;
const CHECKS_PER_REPETITION = 60;
/** Time for which a session can be resumed after its connection was lost, or the server was started again. */
const ABSENT_MILLISECONDS = 120_000;

/** An open session, and what the server holds for it. */
interface Entry {
  readonly session: OpenSession;
  readonly accountId: string;
  readonly workspaceId: string | null;
  readonly holder: string;
  readonly createdAt: number;
  /** Its place among the open recordings of its account. */
  readonly place: CreatePlace;
  /** Repeats the access checks of its client. A session of an earlier server has none until it is resumed. */
  requireAccess: () => void;
}

/** The live sessions of a server. */
export class LiveService implements LiveSessions {
  readonly #services: LiveServices;
  readonly #rows: LiveRows;
  readonly #finisher: Finisher;
  readonly #confirmation: EndConfirmation;
  readonly #entries = new Map<string, Entry>();
  #unsubscribe: () => void = () => {};
  #checks = 0;
  #hasOpened = false;
  /** The stop in progress, or over. */
  #stopped: Promise<void> | null = null;

  constructor(services: LiveServices) {
    this.#services = services;
    this.#rows = new LiveRows(services.store);
    this.#confirmation = new EndConfirmation(services.changes);
    this.#finisher = new Finisher({ ...services, rows: this.#rows, modelId: () => services.models.current().id });
  }

  /** Continues the sessions of an earlier server: they can be resumed for two minutes, and then become recordings. */
  start(): void {
    const { store, events, log } = this.#services;
    this.#unsubscribe = events.onEnded("names of live speakers", ({ id, outcome }) => {
      if (outcome === "completed") nameSpeakers(store, id);
    });
    const { found, ended } = recoverSessions(this.#services, this.#rows);
    for (const session of found) this.#continue(session);
    for (const session of ended) void this.#finisher.finish(session);
    if (found.length + ended.length > 0) {
      log.info({ event: "live.recovered", resumable: found.length, ended: ended.length });
    }
  }

  /** Whether a session was opened since the start. */
  get hasOpened(): boolean {
    return this.#hasOpened;
  }

  open(sender: LiveSender, options: LiveOptions, listener: LiveListener): LiveSession {
    const { settings, intake, usage, now, engine, dataDirectory, log } = this.#services;
    if (!settings().enabled) throw new LiveError({ kind: "off" });
    intake.requireOpen();
    const checked = checkOptions(options, languagesOf(this.#services));
    this.requirePlace(sender.account);
    const { account, workspaceId, holder, requireAccess } = sender;
    const id = newRecordingId(now());
    const files = dataDirectory.liveFilesOf(id);
    const place = intake.limits.admit(account);
    try {
      if (!usage.admit(account.id, id, this.#allowanceSeconds(account), now())) {
        throw new LiveError({ kind: "audio_used_up" });
      }
      files.create();
      const createdAt = now();
      const owner = { accountId: account.id, workspaceId, holder, createdAt, place, requireAccess };
      const first = { id, options: checked, nextNumber: 0, names: new Map<string, string>(), earlier: null };
      const session = this.#start(owner, first);
      this.#storeOpening(sender, id, checked, createdAt);
      engine.wake();
      session.attach(listener);
      this.#hasOpened = true;
      log.info({ event: "live.opened", sessionId: id, accountId: account.id, keep: checked.keep });
      return session;
    } catch (error) {
      this.#entries.get(id)?.session.discard();
      this.#entries.delete(id);
      place.release();
      usage.refundAudio(id);
      void files.remove();
      if (error instanceof MachineError) throw new IntakeError({ kind: "disk_full" });
      throw error;
    }
  }

  resume(sender: LiveSender, id: string, fromSegment: number, listener: LiveListener): ResumedSession {
    const entry = this.#entries.get(id);
    const isOwn = entry?.holder === sender.holder && entry.accountId === sender.account.id;
    if (entry === undefined || !isOwn || entry.session.hasEnded) throw new LiveError({ kind: "unknown_session" });
    const { session } = entry;
    if (session.isInUse) throw new LiveError({ kind: "in_use" });
    entry.requireAccess = sender.requireAccess;
    this.#confirmation.forget(session);
    session.attach(listener);
    this.#services.engine.wake();
    this.#services.log.info({ event: "live.resumed", sessionId: id });
    return { session, receivedSeconds: session.receivedSeconds, segments: session.segmentsFrom(fromSegment) };
  }

  requirePlace(account: Account): void {
    const { open, places } = this.status();
    if (!this.#services.settings().enabled) throw new LiveError({ kind: "off" });
    if (open >= places) throw new LiveError({ kind: "full", sessions: places });
    const share = this.#shareOf(account, places);
    const own = this.#open().filter(({ accountId }) => accountId === account.id).length;
    if (own >= share) throw new LiveError({ kind: "account_full", sessions: share });
  }

  status(): { readonly open: number; readonly places: number } {
    const { settings, measuredPlaces } = this.#services;
    const { enabled, sessions } = settings();
    return { open: this.#open().length, places: enabled ? sessions || measuredPlaces() : 0 };
  }

  #open(): Entry[] {
    return [...this.#entries.values()].filter(({ session }) => !session.hasEnded);
  }

  /** Returns the number of sessions that an account may have. One account alone may have all places. */
  #shareOf(account: Account, places: number): number {
    const own = parseAccountLimits(account.limits).live_sessions_per_account;
    const limit = own ?? this.#services.limits().live_sessions_per_account;
    if (limit > 0) return limit;
    return countAccounts(this.#services.store) > 1 ? Math.ceil(places / 2) : places;
  }

  /** Suspends all sessions. The next server continues those that are kept. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    this.#unsubscribe();
    this.#confirmation.stop();
    await Promise.all([...this.#entries.values()].map(({ session }) => session.suspend()));
    await this.#finisher.stop();
  }

  #start(
    owner: Omit<Entry, "session">,
    started: Omit<Parameters<typeof startSession>[2], "onEnding" | "onEnded" | "accountId">,
  ) {
    const { accountId } = owner;
    const session = startSession(this.#services, this.#rows, {
      ...started,
      accountId,
      onEnding: (reason) => this.#storeEnd(entry, reason),
      onEnded: (reason) => this.#ended(entry, reason),
    });
    const entry: Entry = { ...owner, session };
    this.#entries.set(started.id, entry);
    return session;
  }

  /** Continues a session of an earlier server. Without disk space for further sound, it ends. */
  #continue({ sampleCount, ...started }: FoundSession): void {
    const { accountId, workspaceId, holder, createdAt, place, id, options } = started;
    try {
      this.#start({ accountId, workspaceId, holder, createdAt, place, requireAccess: () => {} }, started);
    } catch (error) {
      if (!(error instanceof MachineError)) throw error;
      void this.#finisher.finish({ id, accountId, workspaceId, createdAt, options, sampleCount, place });
    }
  }

  #storeOpening(
    { account, workspaceId, holder }: LiveSender,
    id: string,
    options: LiveOptions,
    createdAt: number,
  ): void {
    const { store, usage } = this.#services;
    const details = { account: account.name, workspaceId, keep: options.keep };
    transact(store, (writer) => {
      if (options.keep)
        this.#rows.insert(writer, { id, accountId: account.id, workspaceId, holder, options, createdAt });
      usage.spendCreate(writer, account.id, createdAt);
      audit(writer, { actor: holder, now: createdAt }, "live.open", id, details);
    });
  }

  /** Stores the end of a session before its last words are recognized. A session that is suspended has none. */
  #storeEnd({ session, accountId, holder }: Entry, reason: LiveEnd): void {
    const { store, now, metrics, log } = this.#services;
    const seconds = Math.round(session.receivedSeconds);
    metrics.ended(reason);
    log.info({ event: "live.ended", sessionId: session.id, reason, seconds });
    if (reason === "stopping" && session.options.keep) return;
    const account = getAccount(store, accountId)?.name ?? null;
    transact(store, (writer) => {
      this.#rows.end(writer, session.id, reason, now());
      audit(writer, { actor: holder, now: now() }, "live.end", session.id, { account, reason, seconds });
    });
  }

  /** Makes a recording of a session, and waits until the standby has it. @returns the end that its client learns of */
  async #ended(entry: Entry, reason: LiveEnd): Promise<ReportedEnd> {
    const { usage, dataDirectory } = this.#services;
    const { session, accountId, workspaceId, createdAt, place } = entry;
    const { id, options } = session;
    try {
      usage.chargeSession(id, session.receivedSeconds, Number.POSITIVE_INFINITY);
      if (!options.keep) {
        await dataDirectory.liveFilesOf(id).remove();
        place.release();
        return await this.#confirmation.confirmed(session, { reason, recordingId: null });
      }
      // The next server makes the recording: a long one would delay the stop.
      if (reason === "stopping" || this.#stopped !== null) return { reason, recordingId: null };
      const { sampleCount } = session;
      const ended = { id, accountId, workspaceId, createdAt, options, sampleCount, place };
      return await this.#confirmation.confirmed(session, { reason, recordingId: await this.#finisher.finish(ended) });
    } finally {
      this.#entries.delete(id);
    }
  }

  /** Ends sessions whose time, audio minutes or access is over. Call it once a second. */
  check(): void {
    if (this.#stopped !== null) return;
    this.#checks += 1;
    for (const entry of this.#entries.values()) {
      const { session } = entry;
      if (session.hasEnded) continue;
      this.#confirmation.check(session);
      try {
        const reason = this.#endOf(entry);
        if (reason !== null) void session.finish(reason);
      } catch (error) {
        this.#services.log.warn({ event: "live.check_failed", sessionId: session.id, trouble: messageOf(error) });
      }
    }
    if (this.#checks % CHECKS_PER_REPETITION === 0) void this.#finisher.repeat();
  }

  /** Returns why a session ends now; null if it continues. */
  #endOf({ session, accountId, requireAccess }: Entry): LiveEnd | null {
    const { store, settings, usage, now } = this.#services;
    if (this.#checks % CHECKS_PER_ACCESS_CHECK === 0) {
      const account = getAccount(store, accountId);
      if (account === null || !isAllowed(() => requireActive(account, now()), requireAccess)) return "access";
    }
    if (this.#checks % CHECKS_PER_CHARGE === 0) {
      const allowance = this.#allowanceSeconds(getAccount(store, accountId));
      if (!usage.chargeSession(session.id, session.receivedSeconds, allowance)) return "audio_used_up";
      session.settle();
    }
    const idleMilliseconds = settings().idle_minutes * 60_000;
    return session.overdue({ idleMilliseconds, absentMilliseconds: ABSENT_MILLISECONDS });
  }

  #allowanceSeconds(account: Account | null): number {
    const own = parseAccountLimits(account?.limits ?? "{}").audio_minutes_per_day;
    return 60 * (own ?? this.#services.limits().audio_minutes_per_day);
  }
}

function isAllowed(...checks: readonly (() => void)[]): boolean {
  try {
    for (const check of checks) check();
    return true;
  } catch {
    return false;
  }
}
