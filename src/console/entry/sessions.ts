import { and, eq, gt, lte, or } from "drizzle-orm";
import { type Auditor, audit } from "../../accounts/index.ts";
import { deferSync, type Store, tables } from "../../storage/index.ts";
import { hashToken, newToken, useLink } from "./links.ts";

/** Maximum age of a session, used or not. */
const MAX_AGE_MILLISECONDS = 7 * 86_400_000;
/** Maximum time between two requests of a session. */
const IDLE_MILLISECONDS = 12 * 3_600_000;
/** Minimum interval between two writes of a session's last use, so that not every request writes. */
const SEEN_INTERVAL_MILLISECONDS = 60_000;

/** An operator who is signed in. Times are milliseconds since the epoch. */
export interface ConsoleSession {
  /** Hash of the cookie's value. It identifies the session but does not open it. */
  readonly hash: string;
  /** Creator of the link; `password` for a session opened with the password. */
  readonly actor: string;
  readonly enteredBy: "link" | "password";
  readonly enteredAt: number;
  readonly endsAt: number;
  readonly idleEndsAt: number;
}

/** A new session and the value of its cookie, which is never stored. */
export interface OpenedSession {
  readonly session: ConsoleSession;
  readonly secret: string;
}

/** The sessions of the console. They are in the database, so that a command can end them and a restart does not. */
export class Sessions {
  readonly #store: Store;
  readonly #now: () => number;

  /** @param now milliseconds since the epoch */
  constructor(store: Store, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /**
   * Opens a session with a link's token, which works once.
   * @returns null for an unknown, used or expired link
   */
  enterByLink(token: string): OpenedSession | null {
    return this.#store.transaction((transaction) => {
      const actor = useLink(transaction, token, this.#now());
      return actor === null ? null : this.#open(transaction, actor, "link");
    });
  }

  /** Opens a session after the password was checked. */
  enterByPassword(): OpenedSession {
    return this.#store.transaction((transaction) => this.#open(transaction, "password", "password"));
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

  /** Returns whether a session has not ended. The call does not count as a use of the session. */
  isActive({ hash }: ConsoleSession): boolean {
    return this.#findByHash(hash) !== null;
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
      gt(consoleSessions.enteredAt, now - MAX_AGE_MILLISECONDS),
      gt(consoleSessions.seenAt, now - IDLE_MILLISECONDS),
    );
    const row = this.#store.select().from(consoleSessions).where(isActive).get();
    return row === undefined ? null : asSession(row);
  }

  #open(
    writer: Pick<Store, "insert" | "delete">,
    actor: string,
    enteredBy: ConsoleSession["enteredBy"],
  ): OpenedSession {
    const secret = newToken();
    const { consoleSessions } = tables;
    const now = this.#now();
    const over = or(
      lte(consoleSessions.enteredAt, now - MAX_AGE_MILLISECONDS),
      lte(consoleSessions.seenAt, now - IDLE_MILLISECONDS),
    );
    writer.delete(consoleSessions).where(over).run();
    const row = { hash: hashToken(secret), actor, enteredBy, enteredAt: now, seenAt: now };
    writer.insert(consoleSessions).values(row).run();
    audit(writer, { actor, now }, "console.enter", "console", { by: enteredBy });
    return { session: asSession(row), secret };
  }
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

function asSession({ seenAt, ...row }: typeof tables.consoleSessions.$inferSelect): ConsoleSession {
  return { ...row, endsAt: row.enteredAt + MAX_AGE_MILLISECONDS, idleEndsAt: seenAt + IDLE_MILLISECONDS };
}
