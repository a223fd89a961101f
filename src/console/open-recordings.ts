import { timestamp } from "../http/index.ts";
import type { Recording } from "../recordings/index.ts";
import type { OpenRecording } from "./contract/overview.ts";
import { Owners } from "./owners.ts";
import type { ConsoleServices } from "./services.ts";
import { showProgress, troubleOf } from "./show-recording.ts";

const shownRecordings = 100;

/**
 * Returns the recordings in progress, then the queued recordings. The order of the queued recordings comes from the
 * queue, since it depends on more than their age.
 */
export function openRecordings(services: ConsoleServices): OpenRecording[] {
  const { recordings, queue, store } = services;
  const { processing, queued } = recordings.open.list();
  const places = new Map(queue.waiting(shownRecordings).map((id, place) => [id, place + 1]));
  const owners = new Owners(store);
  const placed = [...processing, ...queued].map((recording) => ({
    recording,
    place: places.get(recording.id) ?? null,
  }));
  // A recording is still `queued` while its link is fetched. Queued recordings beyond the first `shownRecordings`
  // places come last.
  const rank = ({ recording, place }: { recording: Recording; place: number | null }) =>
    place ?? (recording.status === "processing" || recording.step !== null ? 0 : shownRecordings + 1);
  return placed
    .sort((a, b) => rank(a) - rank(b))
    .slice(0, shownRecordings)
    .map(({ recording, place }) => ({
      id: recording.id,
      name: recording.sourceName ?? recording.sourceUrl,
      account: owners.accountOf(recording),
      workspace: owners.workspaceOf(recording),
      status: recording.status,
      progress: showProgress(recording),
      place,
      trouble: troubleOf(services, recording.id),
      duration_seconds: recording.durationSeconds,
      created_at: timestamp(recording.createdAt),
    }));
}
