import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import type { FoundRecording, ListedRecording, Overview, RecordingPage } from "../../console/contract.ts";
import { useOverview } from "../overview/index.ts";
import { type ListFilter, queryOf } from "../route.ts";
import { ask, troubleOf } from "../server.ts";
import { useAnswer } from "../use-answer.ts";

/** As it is listed, with its place in the queue where it waits. */
export type ShownRecording = (ListedRecording | FoundRecording) & { readonly place?: number | null };

interface Pages {
  readonly path: string;
  /** What was listed when the last of them came, the first page with it. */
  readonly recordings: readonly ShownRecording[];
  readonly next: string | null;
}

/** The list that a filter gives, page by page, with the progress of those in hand as it changes. */
export function useRecordings(filter: ListFilter) {
  const { words, ...rest } = filter;
  const query = { ...rest, q: words };
  const path = `recordings${queryOf(query)}`;
  const first = useAnswer<RecordingPage>(path);
  const [pages, setPages] = useState<Pages | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  const [isAskingMore, setAskingMore] = useState(false);
  // Pages go with the filter that they belong to.
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
    // What has begun or ended is listed anew.
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
    // After trouble it is for somebody to say that it be tried again.
    moreRef: useSight(trouble === null ? more : null),
    again: first.trouble === null ? () => void more() : first.again,
    trouble: first.trouble ?? trouble,
  };
}

export type RecordingList = ReturnType<typeof useRecordings>;

/** What changes whenever a recording begins or ends, one too that did both since it was looked at before. */
function stateOf({ recordings, days }: Overview): string {
  const ended = days.reduce((sum, { completed, failed }) => sum + completed + failed, 0);
  return [ended, ...recordings.map(({ id }) => id).sort()].join();
}

/** The first page as it is now, and what was known to lie behind it. Newer recordings have higher ids. */
function listedOf(first: readonly ShownRecording[], known: readonly ShownRecording[]): readonly ShownRecording[] {
  const last = first.at(-1)?.id;
  return [...first, ...known.filter(({ id }) => last === undefined || id < last)];
}

/** A ref whose element has `come` called when it comes into sight; null: nothing is to be called now. */
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
