import type { AnyElysia } from "elysia";
import { audit } from "../../../accounts/index.ts";
import type { editing } from "../../../api-contract/index.ts";
import { transact } from "../../../database/index.ts";
import { auditorOf } from "../../../library/index.ts";
import { cleanText } from "../../../text/index.ts";
import { speakerIndex, speakerLabel, type Transcript } from "../../../transcripts/index.ts";
import { Voices } from "../../../voices/index.ts";
import { invalidField } from "../../shared/errors.ts";
import { addRecordingRoute } from "../operations.ts";
import { addEditRoute, correctOnce, type EditServices } from "./edit-route.ts";
import { editingOperations } from "./operations.ts";
import { requireRevision, requireRevisionIfGiven } from "./preconditions.ts";

/** Adds the routes that list, name and merge the speakers of a transcript. */
export function addSpeakerRoutes(api: AnyElysia, services: EditServices): void {
  const { store, library, now } = services;
  const voices = new Voices(store);

  addRecordingRoute(api, library, editingOperations.listSpeakers, ({ viewer, recording }) =>
    showSpeakers(library.transcript(viewer, recording)),
  );

  addEditRoute(api, services, editingOperations.nameSpeakers, ({ request, viewer, recording, body }) => {
    const transcript = library.transcript(viewer, recording);
    requireRevisionIfGiven(request, transcript, viewer, services);
    const names = Object.entries(body.names).map(([letter, name]): [number, string] => {
      return [requireSpeaker(transcript, letter, "names"), cleanText(name ?? "")];
    });
    return transact(store, (writer) => {
      const before = transcript.namesByNumber();
      transcript.rename(new Map(names));
      voices.renamed(transcript, before);
      const details = { speakers: Object.keys(body.names).join(",") };
      audit(writer, auditorOf(viewer, now()), "recordings.name_speakers", recording.id, details);
      return showSpeakers(transcript);
    });
  });

  addEditRoute(api, services, editingOperations.mergeSpeakers, (call) => {
    const { request, viewer, recording, body } = call;
    const transcript = library.transcript(viewer, recording);
    const expected = requireRevision(request, transcript, viewer, services);
    const from = requireSpeaker(transcript, body.speaker, "speaker");
    const into = requireSpeaker(transcript, body.into, "into");
    if (from === into) throw invalidField("into", "It must be another speaker.");
    return correctOnce(library, call, { action: "merge_speakers", from, into }, expected);
  });
}

/** Returns the number of the speaker with a letter. @throws 422 under the field when the transcript has none */
export function requireSpeaker(transcript: Transcript, letter: string, field: string): number {
  const number = transcript.speakerNumbers()[speakerIndex(letter)];
  if (number === undefined) throw invalidField(field, `The transcript has no speaker ${letter}.`);
  return number;
}

function showSpeakers(transcript: Transcript): editing.Speakers {
  const names = transcript.namesByNumber();
  return {
    revision: transcript.revision,
    data: transcript.speakerNumbers().map((number, position) => ({
      speaker: speakerLabel(position),
      name: names.get(number) ?? null,
    })),
  };
}
