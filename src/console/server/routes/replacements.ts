import { timestamp } from "../../../api-contract/index.ts";
import { auditorOf } from "../../../library/index.ts";
import {
  addReplacement,
  listReplacements,
  MAX_REPLACEMENTS,
  ReplacementError,
  removeReplacement,
} from "../../../replacements/index.ts";
import { nameOfActor } from "../../../users/index.ts";
import type { ReplacementList, replacementRoutes } from "../../contract/index.ts";
import type { Handlers } from "../data-routes.ts";
import { ConsoleError } from "../errors.ts";
import { requireAccount } from "../lookups.ts";
import { operatorOf } from "../request-session.ts";
import type { ConsoleServices } from "../services.ts";
import { named } from "../show-recording.ts";

/** Creates the handlers for the words that accounts always write in one way. */
export function replacementHandlers(services: ConsoleServices): Handlers<typeof replacementRoutes> {
  const { store, now } = services;
  const listOf = (request: Request, accountId: string): ReplacementList => ({
    account: named(requireAccount(services, operatorOf(request, store), accountId)),
    limit: MAX_REPLACEMENTS,
    replacements: listReplacements(store, accountId).map(({ source, target, ...entry }) => ({
      ...{ id: entry.id, words: source, text: target, match_case: entry.matchesCase },
      created_by: nameOfActor(store, entry.createdBy),
      created_at: timestamp(entry.createdAt),
    })),
  });
  const authorOf = (request: Request) => auditorOf(operatorOf(request, store), now());
  return {
    accountReplacements: ({ request, id }) => listOf(request, id),

    addReplacement({ request, id, body: { words, text, match_case } }) {
      const account = requireAccount(services, operatorOf(request, store), id);
      try {
        addReplacement(store, account, { source: words, target: text, matchesCase: match_case }, authorOf(request));
      } catch (error) {
        if (!(error instanceof ReplacementError)) throw error;
        throw new ConsoleError("validation_failed", `The replacement was not added: ${error.message}.`, {
          field: "words",
        });
      }
      return listOf(request, account.id);
    },

    removeReplacement({ request, id }) {
      try {
        return listOf(request, removeReplacement(store, id, authorOf(request)).accountId);
      } catch (error) {
        if (!(error instanceof ReplacementError)) throw error;
        throw new ConsoleError("not_found", "There is no such replacement; it may have been removed.");
      }
    },
  };
}
