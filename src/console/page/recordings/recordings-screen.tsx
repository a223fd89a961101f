import { Told, useTitle } from "../parts/index.ts";
import { goTo, type ListFilter } from "../route.ts";
import { strings } from "../strings.ts";
import { UploadButtons } from "../upload/index.ts";
import { Filters } from "./filters.tsx";
import { RecordingRow } from "./recording-row.tsx";
import { useRecordings } from "./use-recordings.ts";

const texts = strings.recordings;

/** All recordings, newest first, or those that a filter lets through. */
export function RecordingsScreen({ filter }: { filter: ListFilter }) {
  useTitle(texts.name);
  const list = useRecordings(filter);
  const isFiltered = Object.values(filter).some((value) => value !== "");
  const change = (part: Partial<ListFilter>) => goTo({ screen: "recordings", filter: { ...filter, ...part } }, true);
  return (
    <div class="recordings">
      <div class="head">
        <h1>{texts.name}</h1>
        <UploadButtons />
      </div>
      <Filters filter={filter} onChange={change} />
      <p class="soft" role="status">
        {list.isAsking ? texts.looking : list.recordings.length === 0 ? noneText(isFiltered) : ""}
        {!list.isAsking && list.isPartial && ` ${texts.partial}`}
      </p>
      <Told refusal={list.refusal} again={list.again} />
      <ol class={list.isAsking ? "rows asking" : "rows"}>
        {list.recordings.map((recording) => (
          <RecordingRow key={recording.id} recording={recording} words={filter.words} />
        ))}
      </ol>
      {list.hasMore && (
        <button type="button" class="more" ref={list.moreRef} onClick={list.more} disabled={list.isAskingMore}>
          {list.isAskingMore ? texts.looking : texts.more}
        </button>
      )}
    </div>
  );
}

function noneText(isFiltered: boolean): string {
  return isFiltered ? texts.noneFound : texts.none;
}
