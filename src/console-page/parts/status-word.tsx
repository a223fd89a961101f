import type { ListedRecording } from "../../console/contract.ts";
import { percent } from "../format.ts";
import { strings } from "../strings.ts";

type Standing = Pick<ListedRecording, "status" | "progress"> & {
  readonly failure?: ListedRecording["failure"];
  readonly place?: number | null;
};

/** Renders the status of a recording in a few words. */
export function StatusWord({ recording }: { recording: Standing }) {
  return <span class={`status ${recording.status}`}>{wordsFor(recording)}</span>;
}

/**
 * Returns the status of a recording in a few words, e.g. `Transcribing, 43%`, `2nd in the queue`, `Nobody speaks in
 * it`.
 */
export function wordsFor({ status, progress, failure, place }: Standing): string {
  const texts = strings.statuses;
  if (status === "queued") return place ? texts.place(place) : texts.queued;
  if (status === "completed") return texts.completed;
  if (status === "failed") return failure ? strings.failures[failure.reason] : texts.failed;
  const step = progress.step === null ? texts.processing : strings.steps[progress.step];
  return progress.percent === null ? step : texts.at(step, percent(progress.percent / 100));
}
