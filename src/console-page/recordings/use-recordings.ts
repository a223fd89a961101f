import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import type { FoundRecording, ListedRecording, Overview, RecordingPage } from "../../console/contract.ts";
import { useOverview } from "../overview/live-overview.tsx";
import { type ListFilter, queryOf } from "../route.ts";
import { ask, troubleOf } from "../server.ts";
import { useAnswer } from "../use-answer.ts";

/** A listed recording, with its place in the queue while it waits. */
export type ShownRecording = (ListedRecording | FoundRecording) & { readonly place?: number | null };

interface Pages {
  readonly path: string;
  /** The whole list, including the first page, when the last page was loaded. */
  readonly recordings: readonly ShownRecording[];
  readonly next: string | null;
}

/** Loads the recordings that match a filter, page by page. Keeps the progress of recordings in progress up to date. */
export function useRecordings(filter: ListFilter) {
  const { words, ...rest } = filter;
  const query = { ...rest, q: words };
  const path = `recordings${queryOf(query)}`;
  const first = useAnswer<RecordingPage>(path);
  const [pages, setPages] = useState<Pages | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  const [isAskingMore, setAskingMore] = useState(false);
  // Further pages are only valid for the filter that they were loaded with.
  const known = pages?.path === path ? pages : null;
  const next = known === null ? (first.value?.next_cursor ?? null) : known.next;
  const listed = useMemo(() => listedOf(first.value?.recordings ?? [], known?.recordings ?? []), [first.value, known]);

  const more = useCallback(async () => {
    if (next === null || isAskingMore || first.isAsking) return;
    setAskingMore(true);
    setTrouble(null);
    try {
      const page = await ask<RecordingPage>(`recordings${queryOf({ ...query, cursor: next })}`);
      setPages({ path, recordings: [...listed, ...page.recordings], next: page.next_cursor });
    } catch (error) {
      setTrouble(troubleOf(error));
    }
    setAskingMore(false);
  }, [path, next, listed, isAskingMore, first.isAsking]);

  const overview = useOverview().value;
  const open = useMemo(() => new Map(overview?.recordings.map((recording) => [recording.id, recording])), [overview]);
  const state = overview === null ? "" : stateOf(overview);
  const [seenState, setSeenState] = useState(state);
  useEffect(() => {
    // Reloads the first page when recordings have started or ended.
    if (state === seenState) return;
    setSeenState(state);
    first.again();
  }, [state, seenState, first.again]);

  const recordings = listed.map((recording) => {
    const now = open.get(recording.id);
    return now === undefined
      ? recording
      : { ...recording, status: now.status, progress: now.progress, place: now.place };
  });
  return {
    recordings,
    isPartial: first.value?.is_partial === true,
    hasMore: next !== null,
    isAsking: first.isAsking && first.value === null,
    isAskingMore,
    more: () => void more(),
    // After an error, only the user starts a retry.
    moreRef: useSight(trouble === null ? more : null),
    again: first.trouble === null ? () => void more() : first.again,
    trouble: first.trouble ?? trouble,
  };
}

export type RecordingList = ReturnType<typeof useRecordings>;

/** Returns a text that changes whenever a recording starts or ends, even if one did both since the last overview. */
function stateOf({ recordings, days }: Overview): string {
  const ended = days.reduce((sum, { completed, failed }) => sum + completed + failed, 0);
  return [ended, ...recordings.map(({ id }) => id).sort()].join();
}

/** Merges the current first page with the further recordings of an earlier state. Newer recordings have higher ids. */
function listedOf(first: readonly ShownRecording[], known: readonly ShownRecording[]): readonly ShownRecording[] {
  const last = first.at(-1)?.id;
  return [...first, ...known.filter(({ id }) => last === undefined || id < last)];
}

/** Returns a ref that calls `come` when its element comes into view; null: no call. */
function useSight(come: (() => Promise<void>) | null): (element: Element | null) => void {
  const [element, setElement] = useState<Element | null>(null);
  useEffect(() => {
    if (element === null || come === null) return;
    const observer = new IntersectionObserver(
      (entries) => entries.some((entry) => entry.isIntersecting) && void come(),
      { rootMargin: "400px" },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [element, come]);
  return setElement;
}
