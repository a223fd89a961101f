import { requireActive } from "../../../intake/index.ts";
import { isOpen } from "../../../recordings/index.ts";
import type { ProcessingOptions, processingRoutes } from "../../contract/index.ts";
import type { Handlers } from "../data-routes.ts";
import { ConsoleError } from "../errors.ts";
import { requireAccount } from "../lookups.ts";
import type { RecordingFacts } from "../recording-facts.ts";
import type { ConsoleServices } from "../services.ts";

/** Creates the handlers that process a completed recording again, and cancel that. */
export function processingHandlers(
  services: ConsoleServices,
  facts: RecordingFacts,
): Handlers<typeof processingRoutes> {
  const { library, settings, now } = services;
  return {
    processingOptions({ id, viewer }) {
      const { pinnedLanguage, isTranslated } = library.requireChangeable(viewer(), id);
      return { models: modelsOf(services), language: pinnedLanguage, translate: isTranslated };
    },

    async processAgain({ id, body: { model, language, translate }, viewer }) {
      const person = viewer();
      const { accountId } = library.requireChangeable(person, id);
      requireActive(requireAccount(services, person, accountId), now());
      const chosen = modelsOf(services).find((each) => each.id === model);
      if (chosen === undefined) throw invalid("model", "This model is not installed.");
      if (language !== null && !chosen.languages.some(({ code }) => code === language)) {
        throw invalid("language", "The model does not know this language.");
      }
      const refusal = translate === true ? services.models.translationRefusal(model) : null;
      if (refusal !== null) throw invalid("translate", refusal);
      const { recordings_per_account: recordingsPerAccount } = settings().limits;
      const choice = { speechModel: model, pinnedLanguage: language, recordingsPerAccount };
      await library.processAgain(person, id, {
        ...choice,
        ...(translate === undefined ? {} : { isTranslated: translate }),
      });
      return facts.show(person, library.require(person, id));
    },

    async cancelProcessing({ id, viewer }) {
      const person = viewer();
      const rerun = library.rerunOf(person, library.requireChangeable(person, id));
      if (rerun === null || !isOpen(rerun.status)) {
        throw new ConsoleError("not_ready", "The recording is not being processed again.");
      }
      await library.cancel(person, id);
      return facts.show(person, library.require(person, id));
    },
  };
}

/** Returns the models for a rerun with their languages, the one for new recordings first. */
function modelsOf({ modelInUse, models }: ConsoleServices): ProcessingOptions["models"] {
  const current = modelInUse();
  const others = models.installed().flatMap(({ id }) => (id === current.id ? [] : (models.find(id) ?? [])));
  return [current, ...others].map(({ id, languages }) => ({
    id,
    languages: languages.map(({ code, name }) => ({ code, name })),
    translates: models.translationRefusal(id) === null,
  }));
}

function invalid(field: string, message: string): ConsoleError {
  return new ConsoleError("validation_failed", message, { field });
}
