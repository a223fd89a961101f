import { and, eq, gt, inArray, isNull, lte, or } from "drizzle-orm";
import { type Auditor, audit } from "../../../accounts/index.ts";
import { deferSync, type Store, tables, transact } from "../../../database/index.ts";
import { actorOf, getUser, noteSignIn, type User } from "../../../users/index.ts";
import { hashToken, newToken, useLink } from "./links.ts";

/** Maximum age of a session, used or not. */
const MAX_AGE_MILLISECONDS = 7 * 86_400_000;
/** Maximum time between two requests of a session. */
const IDLE_MILLISECONDS = 12 * 3_600_000;
/** Minimum interval between two writes of a session's last use, so that not every request writes. */
const SEEN_INTERVAL_MILLISECONDS = 60_000;

type Row = typeof tables.consoleSessions.$inferSelect;

/** A person who is signed in. Times are milliseconds since the epoch. */
export interface ConsoleSession {
  /** Hash of the cookie's value. It identifies the session but does not open it. */
  readonly hash: string;
  /** Creator of the link; `password` for a session opened with the operator's password; `user:ID` for a user. */
  readonly actor: string;
  readonly enteredBy: Row["enteredBy"];
  /** The user as of now, who is not disabled; null for a session of the link or the operator's password. */
  readonly user: User | null;
  readonly enteredAt: number;
  readonly endsAt: number;
  readonly idleEndsAt: number;
}

/** A new session and the value of its cookie, which is never stored. */
export interface OpenedSession {
  readonly session: ConsoleSession;
  readonly secret: string;
}

/** The current settings that sessions depend on. */
interface SessionRules {
  /** Whether the operator's password signs in. */
  readonly operatorPassword: boolean;
  /** Hash of the settings by which the provider's users are let in; null without a provider. */
  readonly providerRules: string | null;
}

/** A sign-in by the provider. */
interface ProviderEntry {
  readonly rules: string;
  /** Id of the session at the provider; null if it has none. */
  readonly providerSession: string | null;
  /** Milliseconds since the epoch. */
  readonly endsAt: number;
}

/** The sessions of the console. They are in the database, so that a command can end them and a restart does not. */
export class Sessions {
  readonly #store: Store;
  readonly #rules: () => SessionRules;
  readonly #now: () => number;

  /** @param now milliseconds since the epoch */
  constructor(store: Store, rules: () => SessionRules, now: () => number) {
    this.#store = store;
    this.#rules = rules;
    this.#now = now;
  }

  /**
   * Opens a session with a link's token, which works once.
   * @returns null for an unknown, used or expired link
   */
  enterByLink(token: string): OpenedSession | null {
    return this.#store.transaction((transaction) => {
      const actor = useLink(transaction, token, this.#now());
      return actor === null ? null : this.#open(transaction, { actor, enteredBy: "link" });
    });
  }

  /** Opens a session after the operator's password was checked. */
  enterByPassword(): OpenedSession {
    return this.#store.transaction((transaction) =>
      this.#open(transaction, { actor: "password", enteredBy: "password" }),
    );
  }

  /** Opens a session for a user whose password was checked. Returns null if the user was disabled or deleted meanwhile. */
  enterAsUser(user: User): OpenedSession | null {
    return this.#enterUser(user, { enteredBy: "user" });
  }

  /** Opens a session for a user whom the provider has identified; null as for enterAsUser. */
  enterByProvider(user: User, { rules, providerSession, endsAt }: ProviderEntry): OpenedSession | null {
    return this.#enterUser(user, {
      enteredBy: "provider",
      providerRules: rules,
      providerSession: providerSession === null ? null : hashToken(providerSession),
      endsAt: Math.min(endsAt, this.#now() + MAX_AGE_MILLISECONDS),
    });
  }

  /**
   * Ends sessions of a provider's users, because the provider demands it.
   * @param providerSession id of the session at the provider; null for all sessions of the users. A session of the users
   *   whose id at the provider is unknown ends as well, since it may be that one
   * @param userIds the users; null for whoever has that session
   * @returns the number of ended sessions
   */
  endOfProvider(providerSession: string | null, userIds: readonly string[] | null): number {
    const { consoleSessions } = tables;
    const isMeant = and(
      eq(consoleSessions.enteredBy, "provider"),
      providerSession === null
        ? undefined
        : or(
            eq(consoleSessions.providerSession, hashToken(providerSession)),
            userIds === null ? undefined : isNull(consoleSessions.providerSession),
          ),
      userIds === null ? undefined : inArray(consoleSessions.userId, [...userIds]),
    );
    return transact(this.#store, (writer) => {
      const ended = writer.delete(consoleSessions).where(isMeant).returning({ hash: consoleSessions.hash }).all();
      const by = { actor: "provider", now: this.#now() };
      if (ended.length > 0) audit(writer, by, "console.sign-out", "console", { sessions: ended.length });
      return ended.length;
    });
  }

  /** Returns the session that a cookie's value opens; null if there is none or it has ended. */
  find(secret: string): ConsoleSession | null {
    return this.#findByHash(hashToken(secret));
  }

  /** Returns the session like `find`, and records that it is used. */
  use(secret: string): ConsoleSession | null {
    const session = this.find(secret);
    const now = this.#now();
    if (session === null || session.idleEndsAt - IDLE_MILLISECONDS + SEEN_INTERVAL_MILLISECONDS > now) return session;
    const { consoleSessions } = tables;
    const seen = this.#store.update(consoleSessions).set({ seenAt: now }).where(eq(consoleSessions.hash, session.hash));
    deferSync(this.#store, () => seen.run());
    return { ...session, idleEndsAt: now + IDLE_MILLISECONDS };
  }

  /**
   * Returns whether a session has not ended, and its user still has the same role. The call does not count as a use of
   * the session.
   */
  isActive({ hash, user }: ConsoleSession): boolean {
    const session = this.#findByHash(hash);
    return session !== null && session.user?.role === user?.role;
  }

  end({ hash }: ConsoleSession): void {
    const { consoleSessions } = tables;
    this.#store.delete(consoleSessions).where(eq(consoleSessions.hash, hash)).run();
  }

  #findByHash(hash: string): ConsoleSession | null {
    const { consoleSessions } = tables;
    const now = this.#now();
    const isActive = and(
      eq(consoleSessions.hash, hash),
      gt(consoleSessions.endsAt, now),
      gt(consoleSessions.seenAt, now - IDLE_MILLISECONDS),
    );
    const row = this.#store.select().from(consoleSessions).where(isActive).get();
    if (row === undefined || !isAllowed(row, this.#rules())) return null;
    if (row.userId === null) return asSession(row, null);
    const user = getUser(this.#store, row.userId);
    return user === null || user.disabledAt !== null ? null : asSession(row, user);
  }

  #enterUser(
    { id }: User,
    values: Pick<Row, "enteredBy"> & Partial<Pick<Row, "providerRules" | "providerSession" | "endsAt">>,
  ): OpenedSession | null {
    return transact(this.#store, (transaction) => {
      const user = getUser(transaction, id);
      if (user === null || user.disabledAt !== null) return null;
      noteSignIn(transaction, user, this.#now());
      return this.#open(transaction, { actor: actorOf(user), userId: id, ...values }, user);
    });
  }

  #open(
    writer: Pick<Store, "insert" | "delete">,
    values: Pick<Row, "actor" | "enteredBy"> & Partial<Row>,
    user: User | null = null,
  ): OpenedSession {
    const secret = newToken();
    const { consoleSessions } = tables;
    const now = this.#now();
    const over = or(lte(consoleSessions.endsAt, now), lte(consoleSessions.seenAt, now - IDLE_MILLISECONDS));
    writer.delete(consoleSessions).where(over).run();
    const row = writer
      .insert(consoleSessions)
      .values({ hash: hashToken(secret), enteredAt: now, seenAt: now, endsAt: now + MAX_AGE_MILLISECONDS, ...values })
      .returning()
      .get();
    const { actor, enteredBy } = row;
    audit(writer, { actor, now }, "console.enter", "console", { by: enteredBy });
    return { session: asSession(row, user), secret };
  }
}

/** Returns whether the current settings still allow the way in which a session was opened. */
function isAllowed({ enteredBy, providerRules }: Row, rules: SessionRules): boolean {
  if (enteredBy === "password") return rules.operatorPassword;
  return enteredBy !== "provider" || (providerRules !== null && providerRules === rules.providerRules);
}

/**
 * Ends all sessions and deletes all unused links.
 * @returns the number of ended sessions
 */
export function signOutEverywhere(store: Store, by: Auditor): number {
  const { consoleLinks, consoleSessions } = tables;
  return store.transaction((transaction) => {
    transaction.delete(consoleLinks).run();
    const ended = transaction.delete(consoleSessions).returning({ enteredAt: consoleSessions.enteredAt }).all();
    audit(transaction, by, "console.sign-out", "console", { sessions: ended.length });
    return ended.length;
  });
}

function asSession({ hash, actor, enteredBy, enteredAt, seenAt, endsAt }: Row, user: User | null): ConsoleSession {
  return { hash, actor, enteredBy, user, enteredAt, endsAt, idleEndsAt: seenAt + IDLE_MILLISECONDS };
}
