import { and, eq, isNull } from "drizzle-orm";
import { type Account, audit, findAccount } from "../accounts/index.ts";
import { type Store, tables, transact } from "../database/index.ts";
import { foldAscii } from "../text/index.ts";
import {
  accountIdsOf,
  actorOf,
  changeDetails,
  endSessions,
  type Role,
  setAccounts,
  storable,
  type User,
  userColumns,
} from "./users.ts";

/** A person whom the sign-in provider has identified. Of all claims, only these are used, and fewer are stored. */
export interface ClaimedUser {
  readonly issuer: string;
  readonly subject: string;
  readonly name: string;
  readonly email: string | null;
  /** Whether the provider says that the address is the person's. */
  readonly isEmailVerified: boolean;
  /** The domain for which the provider vouches, in lower case; null if there is none. */
  readonly domain: string | null;
  readonly groups: readonly string[];
}

/** A role and accounts by name; `all` includes later ones. */
export interface Grant {
  readonly role: Role;
  readonly accounts: "all" | readonly string[];
}

/** Gives a role to the people of a group or of an e-mail domain, or to one person. */
interface SignInRule extends Grant {
  readonly matches: (user: ClaimedUser) => boolean;
}

const ruleShape =
  /^(operator|member|reader)((?:\s+(?:\*|[A-Za-z0-9][A-Za-z0-9._-]*))*)\s*:\s*(group|domain|email)\s+(\S.*)$/;
/** Roles from most to least. */
const ranking: readonly Role[] = ["operator", "member", "reader"];

/**
 * Parses the rules of the settings, such as `member acme beta: group sales` and `operator: group admins`.
 * @throws {Error} that names the first rule that is not valid, and the form of a rule
 */
export function parseSignInRules(texts: readonly string[]): SignInRule[] {
  return texts.map((text) => {
    const [, role, accounts = "", kind, value = ""] = ruleShape.exec(text.trim()) ?? [];
    const known = ranking.find((each) => each === role);
    if (known === undefined) {
      throw new Error(
        `"${text}" is not a rule; write ROLE ACCOUNTS: group NAME, such as "member acme beta: group sales", "reader *: domain example.org" or "operator: email anna@example.org"`,
      );
    }
    const names = accounts.split(/\s+/).filter((name) => name !== "");
    if (known === "operator" && names.length > 0) {
      throw new Error(`"${text}": an operator sees all accounts; write operator: ${kind} ${value}`);
    }
    if (known !== "operator" && names.length === 0) {
      throw new Error(`"${text}" names no account; write ${known} ACCOUNT: ${kind} ${value}, or * for all accounts`);
    }
    const isForAll = known === "operator" || names.includes("*");
    return { role: known, accounts: isForAll ? "all" : names, matches: matcherOf(kind, value.trim()) };
  });
}

function matcherOf(kind: string | undefined, value: string): SignInRule["matches"] {
  const folded = foldAscii(value);
  if (kind === "group") return ({ groups }) => groups.includes(value);
  if (kind === "domain") return ({ domain }) => domain === folded;
  return ({ email, isEmailVerified }) => isEmailVerified && email !== null && foldAscii(email) === folded;
}

/**
 * Returns what the rules give a person: the highest role of the rules that match, with the accounts of those rules that
 * give this role. A member of one account and reader of another is therefore a member of the first alone, never of both.
 * Returns null if no rule matches.
 */
export function grantOf(rules: readonly SignInRule[], user: ClaimedUser): Grant | null {
  const matching = rules.filter(({ matches }) => matches(user));
  const role = ranking.find((each) => matching.some((rule) => rule.role === each));
  if (role === undefined) return null;
  const accounts = matching.filter((rule) => rule.role === role).map((rule) => rule.accounts);
  return { role, accounts: accounts.includes("all") ? "all" : [...new Set(accounts.flat())] };
}

/** The result of a sign-in by the provider. */
interface EnteredUser {
  /** Null if no rule matches any more, or the user would see accounts of which none exists. */
  readonly user: User | null;
  /** Names of accounts in the grant that do not exist. */
  readonly unknownAccounts: readonly string[];
}

/**
 * Stores a person whom the provider has identified and the rules let in, or updates what is stored. A person who is not
 * let in any more loses role, accounts and sessions. Nothing about a disabled user changes.
 * @param grant null if no rule matches
 */
export function enterClaimedUser(store: Store, claimed: ClaimedUser, grant: Grant | null, now: number): EnteredUser {
  const { users } = tables;
  const { issuer, subject } = claimed;
  const { accounts, unknown } = grant === null ? { accounts: [], unknown: [] } : resolve(store, grant);
  if (grant === null || (accounts !== "all" && accounts.length === 0)) {
    withdraw(store, claimed, now);
    return { user: null, unknownAccounts: unknown };
  }
  const values = {
    name: storable(claimed.name) ?? storable(claimed.email ?? "") ?? "Unnamed",
    email: storable(claimed.email ?? "", MAX_EMAIL_CHARACTERS),
    role: grant.role,
    allAccounts: accounts === "all",
    lastSignInAt: now,
  };
  return transact(store, (transaction) => {
    const isPerson = and(eq(users.issuer, issuer), eq(users.subject, subject));
    const before = transaction.select(userColumns).from(users).where(isPerson).get();
    if (before !== undefined && before.disabledAt !== null) return { user: before, unknownAccounts: [] };
    const hadAccounts = before === undefined ? "" : accountMark(transaction, before);
    const row =
      before === undefined
        ? transaction
            .insert(users)
            .values({ id: Bun.randomUUIDv7(), issuer, subject, createdAt: now, ...values })
            .returning(userColumns)
            .get()
        : transaction.update(users).set(values).where(eq(users.id, before.id)).returning(userColumns).get();
    setAccounts(transaction, row.id, accounts);
    const by = { actor: actorOf(row), now };
    const details = changeDetails({ role: grant.role, accounts });
    const isSame = before?.role === row.role && accountMark(transaction, row) === hadAccounts;
    if (before === undefined) audit(transaction, by, "users.create", row.id, details);
    else if (!isSame) audit(transaction, by, "users.change", row.id, details);
    return { user: row, unknownAccounts: unknown };
  });
}

/** Takes role, accounts and sessions from a person who is not let in any more. The least role, without accounts, stays. */
function withdraw(store: Store, { issuer, subject }: ClaimedUser, now: number): void {
  const { users } = tables;
  transact(store, (transaction) => {
    const isPerson = and(eq(users.issuer, issuer), eq(users.subject, subject), isNull(users.disabledAt));
    const row = transaction.select().from(users).where(isPerson).get();
    if (row === undefined) return;
    endSessions(transaction, row);
    if (row.role === "reader" && accountMark(transaction, row) === "") return;
    transaction.update(users).set({ role: "reader", allAccounts: false }).where(eq(users.id, row.id)).run();
    setAccounts(transaction, row.id, []);
    const details = changeDetails({ role: "reader", accounts: [] });
    audit(transaction, { actor: actorOf(row), now }, "users.change", row.id, details);
  });
}

/** Returns a text that is the same for the same accounts of a user. */
function accountMark(reader: Pick<Store, "select">, user: User): string {
  return [accountIdsOf(reader, user)].flat().toSorted().join(" ");
}

/** Maximum length of a stored e-mail address (RFC 5321, 4.5.3.1). */
const MAX_EMAIL_CHARACTERS = 320;

function resolve(
  store: Store,
  { accounts }: Grant,
): { readonly accounts: "all" | readonly Account[]; readonly unknown: readonly string[] } {
  if (accounts === "all") return { accounts, unknown: [] };
  const found = accounts.map((name) => [name, findAccount(store, name)] as const);
  return {
    accounts: found.flatMap(([, account]) => account ?? []),
    unknown: found.filter(([, account]) => account === null).map(([name]) => name),
  };
}
