import { getAccount, getWorkspace } from "../../accounts/index.ts";
import { timestamp, toProgress } from "../../api-contract/index.ts";
import type { Recording, Store } from "../../database/index.ts";
import { machineTroubles } from "../../disk/index.ts";
import type { Viewer } from "../../library/index.ts";
import { isOpen } from "../../recordings/index.ts";
import { nameOfActor } from "../../users/index.ts";
import type { ListedRecording, Named } from "../contract/index.ts";
import type { ConsoleServices } from "./services.ts";

/** Returns a recording as the page's lists show it. The cause of a failure, which may name a path, is for operators only. */
export function showRecording(store: Store, recording: Recording, viewer: Viewer): ListedRecording {
  const { failureReason, failureCause } = recording;
  return {
    id: recording.id,
    status: recording.status,
    source: { name: recording.sourceName, url: recording.sourceUrl },
    ...ownersOf(store, recording),
    language: recording.language,
    duration_seconds: recording.durationSeconds,
    created_at: timestamp(recording.createdAt),
    updated_at: timestamp(recording.updatedAt),
    progress: toProgress(recording),
    failure:
      failureReason === null
        ? null
        : { reason: failureReason, cause: viewer.kind === "operator" ? failureCause : null },
    held: recording.heldAt !== null,
  };
}

/** Returns the problem that keeps a recording from being processed, in plain words; null if there is none. */
export function problemOf(
  { queue, fleetProblem }: Pick<ConsoleServices, "queue" | "fleetProblem">,
  { id, status }: Pick<Recording, "id" | "status">,
): string | null {
  const problem = queue.troubleOf(id);
  if (problem !== null) return machineTroubles[problem];
  return isOpen(status) ? fleetProblem() : null;
}

/** Returns the name of the author of a change. Operators see the user's address, or the user of the operating system. */
export function showAuthor(store: Store, author: string, viewer: Viewer): string {
  return nameOfActor(store, author, viewer.kind === "operator" ? "operators" : "others");
}

export function optionalTimestamp(milliseconds: number | null): string | null {
  return milliseconds === null ? null : timestamp(milliseconds);
}

/** Returns the id and the name of an account or a workspace. */
export function named({ id, name }: Named): Named {
  return { id, name };
}

/** Returns the account and the workspace of a recording. If one has just been deleted, its id is used as its name. */
export function ownersOf(
  store: Store,
  { accountId, workspaceId }: Recording,
): { readonly account: Named; readonly workspace: Named | null } {
  const account = getAccount(store, accountId) ?? { id: accountId, name: accountId };
  if (workspaceId === null) return { account: named(account), workspace: null };
  const workspace = getWorkspace(store, workspaceId) ?? { id: workspaceId, name: workspaceId };
  return { account: named(account), workspace: named(workspace) };
}
