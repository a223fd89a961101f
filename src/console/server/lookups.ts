import { type Account, getAccount, getWorkspace, type Workspace } from "../../accounts/index.ts";
import type { Store } from "../../database/index.ts";
import type { Library, Viewer } from "../../library/index.ts";
import { ConsoleError } from "./errors.ts";

/** Number of an account's workspaces in a response. */
export const MAX_WORKSPACES = 1000;

/**
 * Returns an account whose recordings the viewer sees.
 * @throws {ConsoleError} 422 for an unknown account, and for any that the viewer does not see
 */
export function requireAccount(
  { store, library }: { readonly store: Store; readonly library: Library },
  viewer: Viewer,
  id: string,
): Account {
  const account = library.sees(viewer, id) ? getAccount(store, id) : null;
  if (account !== null) return account;
  throw new ConsoleError("validation_failed", "There is no such account.", { field: "account" });
}

/**
 * Returns the chosen workspace; null if none was chosen.
 * @throws {ConsoleError} 422 if the workspace does not belong to the account
 */
export function requireWorkspace(store: Store, account: Account, id: string | null | undefined): Workspace | null {
  const chosen = id ?? null;
  if (chosen === null) return null;
  const workspace = getWorkspace(store, chosen);
  if (workspace?.accountId === account.id) return workspace;
  throw new ConsoleError("validation_failed", "The account has no such workspace.", { field: "workspace" });
}
