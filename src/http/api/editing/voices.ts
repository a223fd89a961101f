import type { AnyElysia } from "elysia";
import { getAccount } from "../../../accounts/index.ts";
import { type editing, timestamp } from "../../../api-contract/index.ts";
import type { Store } from "../../../database/index.ts";
import { auditorOf, type KeyHolder } from "../../../library/index.ts";
import { type VoiceRefusal, Voices, VoicesError } from "../../../voices/index.ts";
import { ApiError, invalidField, notFound } from "../../shared/errors.ts";
import { addCheckedRoute, addRoute, viewerOf } from "../../shared/operations.ts";
import { addChangeRoute, type EditServices } from "./edit-route.ts";
import { editingOperations } from "./operations.ts";

/** Adds the routes that list, rename and delete the voices that an account remembers. */
export function addVoiceRoutes(api: AnyElysia, services: EditServices): void {
  const { store, now } = services;
  const voices = new Voices(store);

  addRoute(api, editingOperations.listVoices, ({ viewer }) => {
    requireWholeAccount(viewer);
    return listOf(store, voices, viewer);
  });

  addChangeRoute(
    api,
    services,
    editingOperations.renameVoice,
    (viewer, { voice = "" }) => {
      requireVoice(voices, viewer, voice);
      return null;
    },
    ({ viewer, params: { voice = "" }, body }) => {
      requireVoice(voices, viewer, voice);
      refusing(() => voices.rename(voice, body.name, auditorOf(viewer, now())));
      return listOf(store, voices, viewer);
    },
  );

  addCheckedRoute(api, editingOperations.deleteVoice, async (request, { voice = "" }) => {
    const viewer = viewerOf(request);
    requireVoice(voices, viewer, voice);
    await voices.delete(voice, auditorOf(viewer, now()));
    return new Response(null, { status: 204 });
  });
}

/** Requires a key that is pinned to no workspace: voices belong to the account. @throws 403 */
function requireWholeAccount({ workspaceId }: KeyHolder): void {
  if (workspaceId === null) return;
  throw new ApiError(
    "workspace_scope_mismatch",
    "This key is pinned to a workspace, and voices belong to the account.",
  );
}

/** @throws 403 for a key of a workspace, 404 for a voice of another account */
function requireVoice(voices: Voices, viewer: KeyHolder, id: string): void {
  requireWholeAccount(viewer);
  if (refusing(() => voices.accountOf(id)) !== viewer.account.id) throw notFound();
}

function listOf(store: Store, voices: Voices, { account }: KeyHolder): editing.VoiceList {
  return {
    enabled: getAccount(store, account.id)?.voices ?? false,
    data: voices.list(account.id).map(({ id, name, createdAt, examples, seconds }) => ({
      ...{ id, name, created_at: timestamp(createdAt), recordings: examples, seconds },
    })),
  };
}

const nameErrors: Partial<Record<VoiceRefusal, string>> = {
  bad_name: "It must have 1 to 100 characters, and no control characters.",
  name_taken: "Another voice of the account has this name.",
};

/** Converts the refusals of voices. */
function refusing<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof VoicesError)) throw error;
    const message = nameErrors[error.refusal];
    throw message === undefined ? notFound() : invalidField("name", message);
  }
}
