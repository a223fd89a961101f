import type { Account, Auditor } from "../accounts/index.ts";

/** A person who works for the operator of the server, by a command or in the console. May see and change everything. */
export interface Operator {
  readonly kind: "operator";
  /** Name for the audit log. */
  readonly actor: string;
}

/** An application that works for an account, by an API key or from a network that needs none. */
export interface Application {
  readonly kind: "application";
  readonly account: Account;
  /** The workspace to which its key is pinned, and outside of which it sees nothing; null for none. */
  readonly workspaceId: string | null;
}

/** The person or application for whom recordings are read or changed. */
export type Viewer = Operator | Application;

/** Returns the author of a change for the audit log, which lists the changes of operators. */
export function auditorOf({ actor }: Operator, now: number): Auditor {
  return { actor, now };
}
