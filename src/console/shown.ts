import { getAccount, getWorkspace } from "../accounts/index.ts";
import { machineTroubles } from "../storage/index.ts";
import type { Recording } from "../transcriptions/index.ts";
import type { ListedRecording, Named } from "./contract.ts";
import type { ConsoleServices } from "./services.ts";

/** A time as the console's answers have it, like the API's: ISO 8601 with the offset spelled out. */
export function timestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace("Z", "+00:00");
}

export function optionalTimestamp(milliseconds: number | null): string | null {
  return milliseconds === null ? null : timestamp(milliseconds);
}

export function showProgress({ status, step, percent }: Recording): ListedRecording["progress"] {
  if (status === "completed") return { step: null, percent: 100, indeterminate: false };
  if (status === "failed" || step === null) return { step: null, percent: null, indeterminate: false };
  return { step, percent, indeterminate: percent === null };
}

/** Whose recordings are, looked up once for each that owns one. */
export class Owners {
  readonly #store: ConsoleServices["store"];
  readonly #accounts = new Map<string, Named>();
  readonly #workspaces = new Map<string, Named>();

  constructor(store: ConsoleServices["store"]) {
    this.#store = store;
  }

  accountOf({ accountId }: Recording): Named {
    return remembered(this.#accounts, accountId, (id) => getAccount(this.#store, id));
  }

  workspaceOf({ workspaceId }: Recording): Named | null {
    if (workspaceId === null) return null;
    return remembered(this.#workspaces, workspaceId, (id) => getWorkspace(this.#store, id));
  }
}

/** One that was deleted in this moment goes by its id. */
function remembered(known: Map<string, Named>, id: string, look: (id: string) => Named | null): Named {
  const named = known.get(id) ?? { id, name: look(id)?.name ?? id };
  known.set(id, named);
  return named;
}

export function showRecording(recording: Recording, owners: Owners): ListedRecording {
  const { failureReason, failureCause } = recording;
  return {
    id: recording.id,
    status: recording.status,
    source: { name: recording.sourceName, url: recording.sourceUrl },
    account: owners.accountOf(recording),
    workspace: owners.workspaceOf(recording),
    language: recording.language,
    duration_seconds: recording.durationSeconds,
    created_at: timestamp(recording.createdAt),
    updated_at: timestamp(recording.updatedAt),
    progress: showProgress(recording),
    failure: failureReason === null ? null : { reason: failureReason, cause: failureCause },
    held: recording.heldAt !== null,
  };
}

/** What keeps a recording from being gone on with, in plain words. */
export function troubleOf({ queue }: Pick<ConsoleServices, "queue">, recordingId: string): string | null {
  const trouble = queue.troubleOf(recordingId);
  return trouble === null ? null : machineTroubles[trouble];
}
