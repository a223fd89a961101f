import type { Recording } from "../database/index.ts";
import type { RecordingFilter } from "../recordings/index.ts";
import { LibraryError } from "./library-error.ts";
import type { Person, Viewer } from "./viewer.ts";

/** @throws {LibraryError} `not_found`, `other_workspace` */
export function requireAccess(viewer: Viewer, recording: Recording): void {
  if (!seesAccount(viewer, recording.accountId)) throw new LibraryError({ kind: "not_found" });
  if (viewer.kind !== "application") return;
  const { workspaceId } = viewer;
  if (workspaceId !== null && recording.workspaceId !== workspaceId)
    throw new LibraryError({ kind: "other_workspace" });
}

/** Returns whether a viewer sees recordings of an account. */
export function seesAccount(viewer: Viewer, accountId: string): boolean {
  switch (viewer.kind) {
    case "operator":
      return true;
    case "person":
      return viewer.accountIds === "all" || viewer.accountIds.includes(accountId);
    case "application":
      return viewer.account.id === accountId;
  }
}

/** @throws {LibraryError} `not_allowed` for a reader */
export function requireChange(viewer: Viewer): void {
  if (viewer.kind === "person" && viewer.role === "reader") throw new LibraryError({ kind: "not_allowed" });
}

/** Returns the accounts that a filter selects of those that a person sees; null for a person who sees all. */
export function accountsOf({ accountIds }: Person, { accountId }: RecordingFilter): readonly string[] | null {
  if (accountIds === "all") return null;
  return accountId === undefined ? accountIds : accountIds.filter((each) => each === accountId);
}

/** Returns the accounts whose recordings a viewer may see. */
export function visibleAccounts(viewer: Viewer): "all" | readonly string[] {
  if (viewer.kind === "operator") return "all";
  return viewer.kind === "person" ? viewer.accountIds : [viewer.account.id];
}

/** Restricts a filter to what an application may see. */
export function ownerOf(viewer: Viewer): Pick<RecordingFilter, "accountId" | "workspaceId"> {
  if (viewer.kind !== "application") return {};
  const { account, workspaceId } = viewer;
  return { accountId: account.id, ...(workspaceId === null ? {} : { workspaceId }) };
}
