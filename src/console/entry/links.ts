import { and, eq, gt, lte } from "drizzle-orm";
import { type Auditor, audit } from "../../accounts/index.ts";
import { type Store, tables } from "../../storage/index.ts";
import { hashToken, newToken } from "./tokens.ts";

/** Long enough to carry a link to another screen, too short for one that is found later. */
const linkMilliseconds = 10 * 60_000;

/** A link into the console, by its token, which is nowhere kept. */
interface EntryLink {
  readonly token: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Makes a link that opens one session, for whoever has it. */
export function createLink(store: Store, by: Auditor): EntryLink {
  const token = newToken();
  const { consoleLinks } = tables;
  const expiresAt = by.now + linkMilliseconds;
  store.transaction((transaction) => {
    transaction.delete(consoleLinks).where(lte(consoleLinks.expiresAt, by.now)).run();
    transaction
      .insert(consoleLinks)
      .values({ hash: hashToken(token), actor: by.actor, expiresAt })
      .run();
    audit(transaction, by, "console.link", "console", {});
  });
  return { token, expiresAt };
}

/**
 * Uses a link up: of two who send its token one enters.
 * @returns who made it; null for one that is unknown, used or too old
 */
export function useLink(writer: Pick<Store, "delete">, token: string, now: number): string | null {
  const { consoleLinks } = tables;
  const used = writer
    .delete(consoleLinks)
    .where(and(eq(consoleLinks.hash, hashToken(token)), gt(consoleLinks.expiresAt, now)))
    .returning({ actor: consoleLinks.actor })
    .get();
  return used?.actor ?? null;
}
