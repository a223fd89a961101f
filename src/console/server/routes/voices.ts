import { getAccount } from "../../../accounts/index.ts";
import { timestamp } from "../../../api-contract/index.ts";
import type { Store } from "../../../database/index.ts";
import { auditorOf } from "../../../library/index.ts";
import { speakerIndex, type Transcript } from "../../../transcripts/index.ts";
import { nameOfActor } from "../../../users/index.ts";
import { MAX_VOICES, type Voice as StoredVoice, type Voices } from "../../../voices/index.ts";
import type { Voice, VoiceList, voiceRoutes } from "../../contract/index.ts";
import type { Handlers } from "../data-routes.ts";
import { ConsoleError } from "../errors.ts";
import type { RecordingFacts } from "../recording-facts.ts";
import type { SignedIn } from "../request-session.ts";
import type { ConsoleServices } from "../services.ts";
import { named } from "../show-recording.ts";

/** Creates the handlers for voices: those that remember and propose them, and those of an account's list. */
export function voiceHandlers(
  services: ConsoleServices,
  facts: RecordingFacts,
  voices: Voices,
): Handlers<typeof voiceRoutes> {
  const { library, now } = services;
  const authorOf = (viewer: () => SignedIn) => auditorOf(viewer(), now());
  /** Returns the transcript of a recording that the person may change. */
  const transcriptFor = (viewer: SignedIn, id: string) =>
    library.transcript(viewer, library.requireChangeable(viewer, id));
  return {
    rememberVoice({ id, body: { speaker }, viewer }) {
      const transcript = transcriptFor(viewer(), id);
      voices.remember(transcript, speakerNumber(transcript, speaker), authorOf(viewer));
      return facts.show(viewer(), transcript.recording);
    },

    answerProposal({ id, body: { speaker: letter, voice, confirmed }, viewer }) {
      const transcript = transcriptFor(viewer(), id);
      const speaker = speakerNumber(transcript, letter);
      const by = authorOf(viewer);
      if (confirmed) {
        voices.confirm(transcript, speaker, voice, by, (name) => transcript.rename(new Map([[speaker, name]])));
      } else voices.reject(transcript, speaker, voice, by);
      return facts.show(viewer(), transcript.recording);
    },

    voices: ({ id }) => listOf(services, voices, id),

    renameVoice({ id, body: { name }, viewer }) {
      const accountId = voices.accountOf(id);
      voices.rename(id, name, authorOf(viewer));
      return listOf(services, voices, accountId);
    },

    async deleteVoice({ id, viewer }) {
      const accountId = voices.accountOf(id);
      await voices.delete(id, authorOf(viewer));
      return listOf(services, voices, accountId);
    },
  };
}

/** @throws {ConsoleError} 404 for an unknown account */
function listOf({ store }: ConsoleServices, voices: Voices, accountId: string): VoiceList {
  const account = getAccount(store, accountId);
  if (account === null) throw new ConsoleError("not_found", "There is no such account; it may have been deleted.");
  return {
    account: named(account),
    enabled: account.voices,
    voices: voices.list(account.id).map((voice) => showVoice(store, voice)),
    limit: MAX_VOICES,
  };
}

/** Returns the number of the speaker with a letter; -1 if the transcript has no such speaker. */
function speakerNumber(transcript: Transcript, letter: string): number {
  return transcript.speakerNumbers()[speakerIndex(letter)] ?? -1;
}

function showVoice(store: Store, voice: StoredVoice): Voice {
  const { id, name, createdBy, createdAt, examples, seconds, isCurrent } = voice;
  return {
    ...{ id, name, created_by: nameOfActor(store, createdBy), created_at: timestamp(createdAt) },
    ...{ recordings: examples, seconds, usable: isCurrent },
  };
}
