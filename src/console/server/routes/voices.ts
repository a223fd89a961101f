import { type AnyElysia, Elysia } from "elysia";
import { getAccount } from "../../../accounts/index.ts";
import { timestamp } from "../../../api-contract/index.ts";
import { auditorOf } from "../../../library/index.ts";
import { speakerIndex, type Transcript } from "../../../recordings/index.ts";
import type { Store } from "../../../storage/index.ts";
import { nameOfActor } from "../../../users/index.ts";
import { MAX_VOICES, type Voice as StoredVoice, type Voices } from "../../../voices/index.ts";
import {
  proposalAnswerSchema,
  recordingSchema,
  rememberSchema,
  renameVoiceSchema,
  type Voice,
  type VoiceList,
  voiceListSchema,
} from "../../contract/index.ts";
import { addRoute } from "../add-route.ts";
import { ConsoleError } from "../errors.ts";
import { readBody } from "../read-body.ts";
import type { RecordingFacts } from "../recording-facts.ts";
import { viewerOf } from "../request-session.ts";
import type { ConsoleServices } from "../services.ts";
import { named } from "../show-recording.ts";

/** Creates the routes for voices: those that remember and propose them, and those of an account's list. */
export function voiceRoutes(services: ConsoleServices, facts: RecordingFacts, voices: Voices): AnyElysia {
  const { library, store, now } = services;
  const routes = new Elysia({ name: "console-voices" });
  const authorOf = (request: Request) => auditorOf(viewerOf(request, store), now());
  /** Returns the transcript of a recording that the person may change. */
  const transcriptFor = (request: Request, id: string) => {
    const viewer = viewerOf(request, store);
    return library.transcript(viewer, library.requireChangeable(viewer, id));
  };

  addRoute(routes, "POST /recordings/:id/voices", { 200: recordingSchema }, async (request, id) => {
    const { speaker } = await readBody(request, rememberSchema);
    const transcript = transcriptFor(request, id);
    voices.remember(transcript, speakerNumber(transcript, speaker), authorOf(request));
    return facts.show(viewerOf(request, store), transcript.recording);
  });

  addRoute(routes, "POST /recordings/:id/proposals", { 200: recordingSchema }, async (request, id) => {
    const { speaker: letter, voice, confirmed } = await readBody(request, proposalAnswerSchema);
    const transcript = transcriptFor(request, id);
    const speaker = speakerNumber(transcript, letter);
    const by = authorOf(request);
    if (confirmed) {
      voices.confirm(transcript, speaker, voice, by, (name) => transcript.rename(new Map([[speaker, name]])));
    } else voices.reject(transcript, speaker, voice, by);
    return facts.show(viewerOf(request, store), transcript.recording);
  });

  addRoute(routes, "GET /accounts/:id/voices", { 200: voiceListSchema }, (_, id) => listOf(services, voices, id));

  addRoute(routes, "PUT /voices/:id", { 200: voiceListSchema }, async (request, id) => {
    const { name } = await readBody(request, renameVoiceSchema);
    const accountId = voices.accountOf(id);
    voices.rename(id, name, authorOf(request));
    return listOf(services, voices, accountId);
  });

  addRoute(routes, "DELETE /voices/:id", { 200: voiceListSchema }, async (request, id) => {
    const accountId = voices.accountOf(id);
    await voices.delete(id, authorOf(request));
    return listOf(services, voices, accountId);
  });

  return routes;
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
