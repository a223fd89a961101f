import { Problem, useTitle } from "../parts/index.ts";
import { goTo, type ListFilter } from "../route.ts";
import { useViewer } from "../session.tsx";
import { strings } from "../strings.ts";
import { UploadButtons } from "../upload/upload-provider.tsx";
import { Filters } from "./filters.tsx";
import { RecordingRow } from "./recording-row.tsx";
import { type RecordingList, useRecordings } from "./use-recordings.ts";

const texts = strings.recordings;

/** Shows all recordings, newest first, or those that match a filter. */
export function RecordingsScreen({ filter }: { filter: ListFilter }) {
  useTitle(texts.name);
  const { mayChange } = useViewer();
  const list = useRecordings(filter);
  const isFiltered = Object.values(filter).some((value) => value !== "");
  const change = (part: Partial<ListFilter>) => goTo({ screen: "recordings", filter: { ...filter, ...part } }, true);
  return (
    <div>
      <div class="head">
        <h1>{texts.name}</h1>
        {mayChange && <UploadButtons />}
      </div>
      <Filters filter={filter} onChange={change} />
      <p class="soft" role="status">
        {textOf(list, isFiltered, mayChange)}
      </p>
      <Problem problem={list.problem} retry={list.retry} />
      <ol class={list.isLoading ? "rows stale" : "rows"}>
        {list.recordings.map((recording) => (
          <RecordingRow key={recording.id} recording={recording} words={filter.words} />
        ))}
      </ol>
      {list.hasMore && (
        <button type="button" class="more" ref={list.moreRef} onClick={list.more} disabled={list.isLoadingMore}>
          {list.isLoadingMore ? texts.loading : strings.more}
        </button>
      )}
    </div>
  );
}

/** Returns the status text of the list; empty if there is an error, which is shown separately. */
function textOf(
  { problem, isLoading, isPartial, recordings }: RecordingList,
  isFiltered: boolean,
  mayChange: boolean,
): string {
  if (problem !== null) return "";
  if (isLoading) return texts.loading;
  const none = recordings.length > 0 ? "" : isFiltered ? texts.noneFound : mayChange ? texts.none : texts.noneToRead;
  return isPartial ? `${none} ${texts.partial}` : none;
}
