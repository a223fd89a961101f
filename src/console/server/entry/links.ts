import { createHash, randomBytes } from "node:crypto";
import { and, eq, gt, lte } from "drizzle-orm";
import { type Auditor, audit } from "../../../accounts/index.ts";
import { type Store, tables } from "../../../database/index.ts";

/** Lifetime of a link: long enough to open it on another screen, too short for somebody who finds it later. */
const LINK_MILLISECONDS = 10 * 60_000;

/** A sign-in link, identified by its token. The token itself is never stored. */
interface EntryLink {
  readonly token: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Creates a link that opens one session for the first person who uses it. */
export function createLink(store: Store, by: Auditor): EntryLink {
  const token = newToken();
  const { consoleLinks } = tables;
  const expiresAt = by.now + LINK_MILLISECONDS;
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
 * Consumes a link: if two requests send its token, only one succeeds.
 * @returns the link's creator; null for an unknown, used or expired link
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

/** Returns a secret of 256 random bits that is safe in links and cookies. */
export function newToken(): string {
  return randomBytes(32).toString("base64url");
}

/**
 * Returns the hash of a token, which is stored instead of it. With 256 random bits, a plain hash is enough: it cannot
 * be reversed by search.
 */
export function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
