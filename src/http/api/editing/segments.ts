import type { AnyElysia } from "elysia";
import type { editing } from "../../../api-contract/index.ts";
import type { Edit, Transcript } from "../../../transcripts/index.ts";
import { invalidField } from "../../shared/errors.ts";
import { addEditRoute, correctOnce, type EditServices } from "./edit-route.ts";
import { editingOperations } from "./operations.ts";
import { requireRevision } from "./preconditions.ts";
import { requireSpeaker } from "./speakers.ts";

/** Adds the route that corrects segments. */
export function addSegmentRoutes(api: AnyElysia, services: EditServices): void {
  const { library } = services;

  addEditRoute(api, services, editingOperations.correctSegments, (call) => {
    const { request, viewer, recording, body } = call;
    const transcript = library.transcript(viewer, recording);
    const expected = requireRevision(request, transcript, viewer, services);
    return correctOnce(library, call, editOf(transcript, body), expected);
  });
}

/** Returns the edit of a transcript that corrections by index mean. @throws 422 under `corrections` */
function editOf(transcript: Transcript, { corrections }: editing.Corrections): Edit {
  const texts: { segment: number; text: string }[] = [];
  const segmentsOf = new Map<string, number[]>();
  const seen = new Set<number>();
  for (const { index, text, speaker } of corrections) {
    const refused = (reason: string) => invalidField("corrections", `Segment ${index}: ${reason}`);
    const [segment] = transcript.segments(index, 1);
    if (segment?.index !== index) throw refused("the transcript has no such segment.");
    if (seen.has(index)) throw refused("it occurs twice.");
    seen.add(index);
    if (text === undefined && speaker === undefined) throw refused("it needs a text or a speaker.");
    if (text?.trim() === "" && speaker !== undefined) throw refused("a segment that is removed gets no speaker.");
    if (text !== undefined) texts.push({ segment: segment.id, text });
    if (speaker !== undefined) segmentsOf.set(speaker, [...(segmentsOf.get(speaker) ?? []), segment.id]);
  }
  const speakers = [...segmentsOf].map(([speaker, segments]) => ({
    segments,
    speaker: speaker === "new" ? null : requireSpeaker(transcript, speaker, "corrections"),
  }));
  return { action: "edit", texts, speakers };
}
