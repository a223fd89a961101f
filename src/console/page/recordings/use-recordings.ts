import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import type { FoundRecording, ListedRecording, RecordingPage } from "../../contract.ts";
import { useOverview } from "../overview/index.ts";
import { type ListFilter, queryOf } from "../route.ts";
import { ask, Refusal } from "../server.ts";
import { useAnswer } from "../use-answer.ts";

/** As it is listed, with its place in the queue where it waits. */
export type ShownRecording = (ListedRecording | FoundRecording) & { readonly place?: number | null };

interface LaterPages {
  readonly path: string;
  readonly recordings: readonly ShownRecording[];
  readonly next: string | null;
}

/** The list that a filter gives, page by page, with the progress of those in hand as it changes. */
export function useRecordings(filter: ListFilter) {
  const { words, ...rest } = filter;
  const query = { ...rest, q: words };
  const path = `recordings${queryOf(query)}`;
  const first = useAnswer<RecordingPage>(path);
  const [later, setLater] = useState<LaterPages | null>(null);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [isAskingMore, setAskingMore] = useState(false);
  // Later pages go with the filter that they belong to.
  const behind = later?.path === path ? later : null;
  const next = behind === null ? (first.value?.next_cursor ?? null) : behind.next;

  const more = useCallback(async () => {
    if (next === null || isAskingMore || first.isAsking) return;
    setAskingMore(true);
    setRefusal(null);
    try {
      const page = await ask<RecordingPage>(`recordings${queryOf({ ...query, cursor: next })}`);
      const recordings = [...(behind?.recordings ?? []), ...page.recordings];
      setLater({ path, recordings, next: page.next_cursor });
    } catch (error) {
      setRefusal(error instanceof Refusal ? error : new Refusal(0, "", String(error)));
    }
    setAskingMore(false);
  }, [path, next, behind, isAskingMore, first.isAsking]);

  const overview = useOverview().value;
  const open = useMemo(() => new Map(overview?.recordings.map((recording) => [recording.id, recording])), [overview]);
  const openIds = [...open.keys()].sort().join();
  const [seenIds, setSeenIds] = useState(openIds);
  useEffect(() => {
    // What has begun or ended is listed anew.
    if (openIds === seenIds) return;
    setSeenIds(openIds);
    first.again();
  }, [openIds, seenIds, first.again]);

  const listed: readonly ShownRecording[] = [...(first.value?.recordings ?? []), ...(behind?.recordings ?? [])];
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
    moreRef: useSight(more),
    again: first.again,
    refusal: first.refusal ?? refusal,
  };
}

/** A ref whose element has `come` called when it comes into sight. */
function useSight(come: () => Promise<void>): (element: Element | null) => void {
  const [element, setElement] = useState<Element | null>(null);
  useEffect(() => {
    if (element === null) return;
    const observer = new IntersectionObserver(
      (entries) => entries.some((entry) => entry.isIntersecting) && void come(),
      { rootMargin: "400px" },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [element, come]);
  return setElement;
}
