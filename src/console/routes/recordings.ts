import { Elysia } from "elysia";
import { audit } from "../../accounts/index.ts";
import { checkStanding, contextOf, readQuery } from "../../http/index.ts";
import type { Recording } from "../../recordings/index.ts";
import { syncDirectory } from "../../storage/index.ts";
import { recordingPageSchema, recordingSchema } from "../contract/recordings.ts";
import type { Sessions } from "../entry/index.ts";
import { ConsoleError } from "../errors.ts";
import { findRecordings, listRecordings } from "../list-recordings.ts";
import { recordingsQuery, uploadQuery } from "../queries.ts";
import type { RecordingFacts } from "../recording-facts.ts";
import { requireAccount, requireWorkspace } from "../require-owner.ts";
import { requireRecording } from "../require-recording.ts";
import type { ConsoleServices } from "../services.ts";
import { consoleAuditor, requireSession } from "../signed-in.ts";

/**
 * Creates the routes that list, search, show, create and delete recordings.
 * @param isPartial whether some recordings are not in the search index yet
 */
export function recordingRoutes(
  services: ConsoleServices,
  sessions: Sessions,
  facts: RecordingFacts,
  isPartial: () => boolean,
) {
  const { recordings, dataDirectory, exports, now } = services;
  return new Elysia({ name: "console-recordings", prefix: "/recordings" })
    .get(
      "",
      ({ request }) => {
        const { q, ...query } = readQuery(request, recordingsQuery);
        return q === undefined
          ? listRecordings(services, query)
          : findRecordings(services, { ...query, q }, isPartial());
      },
      { response: { 200: recordingPageSchema } },
    )
    .post(
      "",
      async ({ request, set }) => {
        const recording = await upload(services, sessions, request);
        set.status = 201;
        return facts.show(recording);
      },
      // The body is a recording of any size: it is streamed to disk, never parsed into memory.
      { parse: "none", response: { 201: recordingSchema } },
    )
    .get("/:id", ({ params }) => facts.show(requireRecording(recordings, params.id)), {
      response: { 200: recordingSchema },
    })
    .delete("/:id", async ({ request, params }) => {
      const { id, status, heldAt } = requireRecording(recordings, params.id);
      const by = consoleAuditor(request, now());
      const deleted = recordings.delete(id, (writer) => audit(writer, by, "recordings.delete", id, {}));
      if (!deleted) {
        throw heldAt === null
          ? new ConsoleError("still_processing", `The recording is ${status}; delete it when it has ended.`)
          : new ConsoleError("held", "The recording is held; release it first: transcribe recordings release.");
      }
      exports.removeDeleted();
      await dataDirectory.filesOf(id).removeAll();
      await recordings.rows.removeDeleted(id);
      await syncDirectory(dataDirectory.uploads);
      return new Response(null, { status: 204 });
    });
}

/** Creates a recording for an account, with the same limits as a request of the account to the API. */
async function upload(services: ConsoleServices, sessions: Sessions, request: Request): Promise<Recording> {
  const { store, creator, recordings, now } = services;
  const query = readQuery(request, uploadQuery);
  const choose = () => {
    const account = requireAccount(store, query.account);
    const workspace = requireWorkspace(store, account, query.workspace);
    checkStanding(account, now(), contextOf(request).origin);
    return { account, workspaceId: workspace?.id ?? null };
  };
  const requireAccess = () => {
    requireSession(request, sessions);
    choose();
  };
  const answer = await creator.createFor({ ...choose(), requireAccess }, request);
  const { id } = (await answer.json()) as { id: string };
  return requireRecording(recordings, id);
}
