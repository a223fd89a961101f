import type { ListedRecording, Mark, Named } from "../../contract/index.ts";
import { ago, moment, percent } from "../format.ts";
import { strings } from "../strings.ts";

/** Returns the name of a recording: of its file, or the link from which it was downloaded. */
export function recordingName({ source }: Pick<ListedRecording, "source">): string {
  return source.name ?? source.url ?? strings.untitled;
}

type RecordingStatus = Pick<ListedRecording, "status" | "progress"> & {
  readonly failure?: ListedRecording["failure"];
  readonly place?: number | null;
};

/** Renders the status of a recording in a few words. */
export function StatusText({ recording }: { recording: RecordingStatus }) {
  return <span class={`status ${recording.status}`}>{statusText(recording)}</span>;
}

/** Returns the status of a recording in a few words, e.g. `Transcription, 43%` or `Queued, 2 recordings ahead`. */
export function statusText({ status, progress, failure, place }: RecordingStatus): string {
  const texts = strings.statuses;
  if (status === "queued") return place ? strings.progress.place(place) : texts.queued;
  if (status === "completed") return texts.completed;
  if (status === "failed") return failure ? strings.failures[failure.reason] : texts.failed;
  const step = progress.step === null ? texts.processing : strings.steps[progress.step];
  return progress.percent === null ? step : strings.progress.at(step, percent(progress.percent / 100));
}

/** Renders a text with marked ranges. */
export function MarkedText({ text, marks }: { text: string; marks: readonly Mark[] }) {
  const fragments = marks.flatMap(([from, to], index) => [
    text.slice(marks[index - 1]?.[1] ?? 0, from),
    <mark key={from}>{text.slice(from, to)}</mark>,
  ]);
  return (
    <>
      {fragments}
      {text.slice(marks.at(-1)?.[1] ?? 0)}
    </>
  );
}

/** Renders the account and the workspace of a recording. */
export function OwnerName({ account, workspace }: { account: Named; workspace: Named | null }) {
  return (
    <span>
      <bdi>{account.name}</bdi>
      {workspace !== null && [" / ", <bdi key="workspace">{workspace.name}</bdi>]}
    </span>
  );
}

/** Renders a date and time, with the relative time as a tooltip. */
export function Moment({ at }: { at: string }) {
  return (
    <time dateTime={at} title={ago(at)}>
      {moment(at)}
    </time>
  );
}

/** Renders a relative time, with the date and time as a tooltip. */
export function Ago({ at }: { at: string }) {
  return (
    <time dateTime={at} title={moment(at)}>
      {ago(at)}
    </time>
  );
}
