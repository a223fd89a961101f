import type { AnyElysia } from "elysia";
import { type editing, timestamp, toProgress } from "../../../api-contract/index.ts";
import type { Settings } from "../../../config/index.ts";
import type { Recording } from "../../../database/index.ts";
import type { Hints } from "../../../text/index.ts";
import { invalidField } from "../../shared/errors.ts";
import type { UsableModels } from "../../shared/usable-models.ts";
import { hintsOf, isTranslated, languageOf } from "../create-fields.ts";
import { addRecordingRoute } from "../operations.ts";
import { addEditRoute, type EditServices } from "./edit-route.ts";
import { editingOperations } from "./operations.ts";

export interface ProcessingServices extends EditServices {
  readonly limits: () => Settings["limits"];
  readonly models: UsableModels;
}

type Choice = Parameters<EditServices["library"]["processAgain"]>[2];

/** Adds the routes that process a completed recording again, and show the state of that. */
export function addProcessingRoutes(api: AnyElysia, services: ProcessingServices): void {
  const { library, limits } = services;

  addRecordingRoute(api, library, editingOperations.getProcessing, ({ viewer, recording }) =>
    showProcessing(library.rerunOf(viewer, recording)),
  );

  addEditRoute(
    api,
    services,
    editingOperations.processAgain,
    async (call) => {
      const { viewer, recording, body } = call;
      const choice = choiceOf(services, recording, body);
      const recordingsPerAccount = limits().recordings_per_account;
      let answer = showProcessing(null);
      await library.processAgain(viewer, recording.id, { ...choice, recordingsPerAccount }, (writer, rerun) => {
        answer = showProcessing(rerun);
        call.store(answer, writer);
      });
      return answer;
    },
    202,
  );
}

/** Returns how a recording is processed again. @throws 422 under the name of a choice that is not valid */
function choiceOf(
  { models }: ProcessingServices,
  { pinnedLanguage }: Recording,
  body: editing.ProcessAgain,
): Omit<Choice, "recordingsPerAccount"> {
  const model = body.model === undefined ? models.current() : models.find(body.model);
  if (model === null) throw invalidField("model", "This model is not installed.");
  const code = body.language === undefined ? pinnedLanguage : body.language;
  const language = languageOf(model.languages, code ?? undefined);
  const { task } = body;
  return {
    ...{ speechModel: model.id, pinnedLanguage: language?.code ?? null, hints: givenHints(body) },
    ...(task !== undefined && { isTranslated: isTranslated(task, () => models.translationRefusal(model.id)) }),
  };
}

/** Returns the hints that a request has. Those that it does not have stay as in the create. */
function givenHints({ prompt, speakers, min_speakers, max_speakers }: editing.ProcessAgain): Partial<Hints> {
  const counts = { speakers, min_speakers, max_speakers };
  const texts = Object.entries(counts).flatMap(([name, count]) => (count === undefined ? [] : [[name, String(count)]]));
  const hints = hintsOf({ ...Object.fromEntries(texts), prompt });
  const { minSpeakers, maxSpeakers } = hints;
  return {
    ...(prompt === undefined ? {} : { prompt: hints.prompt }),
    ...(texts.length === 0 ? {} : { minSpeakers, maxSpeakers }),
  };
}

function showProcessing(rerun: Recording | null): editing.Processing {
  if (rerun === null || rerun.status === "completed") return { processing: null };
  return {
    processing: {
      status: rerun.status,
      progress: toProgress(rerun),
      failure_reason: rerun.failureReason,
      created_at: timestamp(rerun.createdAt),
    },
  };
}
