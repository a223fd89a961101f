import type { AnyElysia } from "elysia";
import { toTranscription } from "../../../api-contract/index.ts";
import type { RecordingQueue } from "../../../queue/index.ts";
import { addEditRoute } from "./edit-route.ts";
import { editingOperations } from "./operations.ts";
import { addProcessingRoutes, type ProcessingServices } from "./processing.ts";
import { addRevisionRoutes } from "./revisions.ts";
import { addSearchRoute, type SearchServices } from "./search.ts";
import { addSegmentRoutes } from "./segments.ts";
import { addSpeakerRoutes } from "./speakers.ts";
import { addTagRoutes } from "./tags.ts";
import { addVoiceRoutes } from "./voices.ts";

export interface EditingServices extends ProcessingServices, SearchServices {
  readonly queue: Pick<RecordingQueue, "followCommands">;
}

/** Adds the routes that change recordings and transcripts. */
export function addEditingRoutes(api: AnyElysia, services: EditingServices): void {
  addCancelRoute(api, services);
  addSpeakerRoutes(api, services);
  addSegmentRoutes(api, services);
  addRevisionRoutes(api, services);
  addProcessingRoutes(api, services);
  addVoiceRoutes(api, services);
  addTagRoutes(api, services);
  addSearchRoute(api, services);
}

/**
 * Adds the route that cancels a recording, or the processing of a completed one that is processed again. A recording that
 * was cancelled can be cancelled again, which changes nothing.
 */
function addCancelRoute(api: AnyElysia, services: EditingServices): void {
  const { store, library, queue } = services;
  addEditRoute(api, services, editingOperations.cancelTranscription, async (call) => {
    const { viewer, recording } = call;
    if (recording.failureCause !== "cancelled") {
      const cancelled = library.cancel(viewer, recording.id);
      // The recording has ended by now; its slot is free before its work is removed.
      queue.followCommands();
      await cancelled;
    }
    const answer = toTranscription(store, library.require(viewer, recording.id));
    call.store(answer);
    return answer;
  });
}
