import { Value } from "@sinclair/typebox/value";
import { ExportQueue } from "../../../exports/index.ts";
import { contextOf, sockets } from "../../../http/index.ts";
import { requireActive } from "../../../intake/index.ts";
import { type LiveSender, liveTextOf } from "../../../live/index.ts";
import { errorSchema, type liveRoutes } from "../../contract/index.ts";
import type { Handlers } from "../data-routes.ts";
import { compareLiveText } from "../live-comparison.ts";
import { type LiveSockets, refuseBySocket } from "../live-sockets.ts";
import { requireAccount, requireWorkspace } from "../lookups.ts";
import { admitAgain, readerOf } from "../request-session.ts";
import type { ConsoleServices } from "../services.ts";

/**
 * Creates the handler that connects the page with a live session.
 * @param refuse returns the response for an error
 */
export function liveHandlers(
  services: ConsoleServices,
  live: LiveSockets,
  refuse: (error: unknown, request: Request) => Response,
): Handlers<typeof liveRoutes> {
  const { store, library, now } = services;
  // A comparison has the live text of a whole recording in memory.
  const comparisons = new ExportQueue(1);
  return {
    async live({ request, query, viewer }) {
      const choose = () => {
        const account = requireAccount(services, viewer(), query.account);
        library.requireCreation(viewer(), account.id);
        const workspace = requireWorkspace(store, account, query.workspace);
        requireActive(account, now());
        return { kind: "application" as const, account, workspaceId: workspace?.id ?? null };
      };
      const requireAccess = () => {
        admitAgain(request);
        choose();
      };
      try {
        const holder = `console:${contextOf(request).session}`;
        return live.accept(request, { ...choose(), requireAccess, holder } satisfies LiveSender);
      } catch (error) {
        if (!sockets.asksForSocket(request)) throw error;
        return refuseBySocket(request, Value.Decode(errorSchema, await refuse(error, request).json()));
      }
    },

    liveComparison({ request, id, query: { after }, viewer }) {
      const compare = () => {
        const transcript = library.transcript(viewer(), id);
        library.reads.viewed(readerOf(viewer()), [transcript.recording]);
        return compareLiveText(
          liveTextOf(store, transcript.recording.id)?.segments ?? [],
          transcript.allSegments(),
          after,
        );
      };
      return comparisons.run(viewer().actor, compare, request.signal);
    },
  };
}
