import { type Account, type Auditor, audit } from "../accounts/index.ts";
import type { Writer } from "../database/index.ts";

/** A person who works for the operator of the server, by a command or in the console. May see and change everything. */
export interface Operator {
  readonly kind: "operator";
  /** Name for the audit log; `user:ID` for a user of the console. */
  readonly actor: string;
}

/** An application that works for an account, by an API key or from a network that needs none. */
export interface Application {
  readonly kind: "application";
  readonly account: Account;
  /** The workspace to which its key is pinned, and outside of which it sees nothing; null for none. */
  readonly workspaceId: string | null;
  /** Name for the audit log: `key:ID`. Absent without a key: such an application changes nothing. */
  readonly actor?: string | undefined;
}

/** A user of the console who sees the recordings of some accounts. A member also changes them; a reader does not. */
export interface Person {
  readonly kind: "person";
  readonly role: "member" | "reader";
  /** Name for the audit log: `user:ID`. */
  readonly actor: string;
  /** The accounts whose recordings the person sees. */
  readonly accountIds: "all" | readonly string[];
}

/** The person or application for whom recordings are read or changed. */
export type Viewer = Operator | Application | Person;

/** An application with a key. */
export type KeyHolder = Application & { readonly actor: string };

/** A person, or an application with a key, who changes recordings that exist. */
export type Editor = Operator | Person | KeyHolder;

/** Returns the author of a change for the audit log. */
export function auditorOf({ actor }: Pick<Editor, "actor">, now: number): Auditor {
  return { actor, now };
}

/** Adds what a viewer does to the audit log, in the transaction of the change. A viewer without a name leaves no entry. */
export function auditAs(
  { actor }: Viewer,
  now: number,
  writer: Writer,
  action: string,
  id: string,
  details: Record<string, string | null> = {},
): void {
  if (actor !== undefined) audit(writer, { actor, now }, action, id, details);
}
