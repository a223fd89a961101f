import { type editing, toSegment } from "../../../api-contract/index.ts";
import type { Store } from "../../../database/index.ts";
import type { KeyHolder, Library } from "../../../library/index.ts";
import type { Transcript } from "../../../transcripts/index.ts";
import { nameOfActor } from "../../../users/index.ts";
import { ApiError, invalidField } from "../../shared/errors.ts";
import { callerOf, readerOf } from "../../shared/request-context.ts";

interface ChangeServices {
  readonly store: Store;
  readonly library: Pick<Library, "reads">;
}

/**
 * Returns the revision in `If-Match`, of which the transcript must still be.
 * @throws {ApiError} 428 without the header, 422 if it names no revision, 412 with what has changed since
 */
export function requireRevision(
  request: Request,
  transcript: Transcript,
  viewer: KeyHolder,
  services: ChangeServices,
): number {
  const expected = revisionOf(request);
  if (expected === null) {
    throw new ApiError("precondition_required", 'Send the revision that you have read, such as If-Match: "3".');
  }
  if (expected !== transcript.revision) throw preconditionFailed(request, transcript, expected, viewer, services);
  return expected;
}

/** Requires that the transcript is of the revision in `If-Match`, if the request has one. @throws as `requireRevision` */
export function requireRevisionIfGiven(
  request: Request,
  transcript: Transcript,
  viewer: KeyHolder,
  services: ChangeServices,
): void {
  if (request.headers.has("if-match")) requireRevision(request, transcript, viewer, services);
}

/** Returns the revision in `If-Match`; null without the header. @throws 422 if it is not one entity tag of a revision */
function revisionOf(request: Request): number | null {
  const header = request.headers.get("if-match");
  if (header === null) return null;
  const number = /^"(0|[1-9]\d{0,8})"$/.exec(header.trim())?.[1];
  if (number === undefined) throw invalidField("If-Match", 'It must be the ETag of a revision, such as "3".');
  return Number(number);
}

/**
 * Returns the error for a request that does not know the latest revision of a transcript. A key that may change
 * transcripts, but not read them, gets no text.
 */
export function preconditionFailed(
  request: Request,
  transcript: Transcript,
  seen: number,
  viewer: KeyHolder,
  { store, library }: ChangeServices,
): ApiError {
  // Changes of the same key in other requests are as new to this request as those of people.
  const later = transcript.changesAfter(seen, { author: viewer.actor, editor: crypto.randomUUID() });
  const { authors } = later;
  const splices = callerOf(request).key.scopes.includes("transcriptions:read") ? later.splices : null;
  if (splices !== null && splices.length > 0) library.reads.viewed(readerOf(request, "v1"), [transcript.recording]);
  const numbers = transcript.speakerNumbers();
  const changes: editing.LaterChangesResource = {
    revision: transcript.revision,
    authors: authors.map((author) => nameOfActor(store, author, "others")),
    splices:
      splices?.map(({ index, removed, inserted }) => ({
        index,
        removed: removed.length,
        segments: inserted.map(({ words: _, ...segment }, place) =>
          toSegment({ ...segment, index: index + place, speaker: numbers.indexOf(segment.speaker) }),
        ),
      })) ?? null,
  };
  const message = `The transcript was changed since revision ${seen}; the latest is ${changes.revision}.`;
  return new ApiError("precondition_failed", message, { changes });
}
