import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import type { FoundRecording, ListedRecording, Overview } from "../../contract/index.ts";
import { useOverview } from "../overview/live-overview.tsx";
import type { ListFilter } from "../route.ts";
import { call, urlOf } from "../server.ts";
import { useViewer } from "../session.tsx";
import { useAttempt, useData, usePolling } from "../use-data.ts";

/** A listed recording, with its place in the queue while it waits. */
export type ShownRecording = (ListedRecording | FoundRecording) & { readonly place?: number | null };

interface Pages {
  /** Address of the first page. */
  readonly address: string;
  /** The whole list, including the first page, when the last page was loaded. */
  readonly recordings: readonly ShownRecording[];
  readonly next: string | null;
}

/** Loads the recordings that match a filter, page by page. Keeps the progress of recordings in progress up to date. */
export function useRecordings(filter: ListFilter) {
  const { words } = filter;
  const query = {
    status: filter.status || null,
    account: filter.account || null,
    workspace: filter.workspace || null,
    q: words || null,
  };
  const address = urlOf("recordings", { query });
  const first = useData("recordings", { query });
  const [pages, setPages] = useState<Pages | null>(null);
  const { problem, isRunning: isLoadingMore, attempt } = useAttempt();
  // Further pages are only valid for the filter that they were loaded with.
  const known = pages?.address === address ? pages : null;
  const next = known === null ? (first.value?.next_cursor ?? null) : known.next;
  const listed = useMemo(() => listedOf(first.value?.recordings ?? [], known?.recordings ?? []), [first.value, known]);

  const more = useCallback(async () => {
    if (next === null || isLoadingMore || first.isLoading) return;
    await attempt(async () => {
      const page = await call("recordings", { query: { ...query, cursor: next } });
      setPages({ address, recordings: [...listed, ...page.recordings], next: page.next_cursor });
    });
  }, [attempt, address, next, listed, isLoadingMore, first.isLoading]);

  const overview = useOverview().value;
  const open = new Map<string, Pick<ShownRecording, "status" | "progress" | "place">>(
    overview?.recordings.map((recording) => [recording.id, recording]),
  );
  const state = overview === null ? "" : stateOf(overview);
  const [seenState, setSeenState] = useState(state);
  useEffect(() => {
    // Reloads the first page when recordings have started or ended.
    if (state === seenState) return;
    setSeenState(state);
    first.retry();
  }, [state, seenState, first.retry]);

  const isAnyOpen = listed.some(({ status }) => status === "queued" || status === "processing");
  const { isLoading: isReading, retry: read } = first;
  // Recordings of others may appear at any time. A search costs more, and is repeated only for what it shows.
  const isPolled = !useViewer().isOperator && (words === "" || isAnyOpen);
  usePolling(
    isPolled,
    useCallback(() => isReading || read(), [isReading, read]),
  );

  const recordings = listed.map((recording): ShownRecording => {
    const { status, progress, place = null } = open.get(recording.id) ?? recording;
    return { ...recording, status, progress, place };
  });
  return {
    recordings,
    isPartial: first.value?.is_partial === true,
    hasMore: next !== null,
    isLoading: first.isLoading && first.value === null,
    isLoadingMore,
    more: () => void more(),
    // After an error, only the user starts a retry.
    moreRef: useVisibility(problem === null ? more : null),
    retry: first.problem === null ? () => void more() : first.retry,
    problem: first.problem ?? problem,
  };
}

export type RecordingList = ReturnType<typeof useRecordings>;

/** Returns a text that changes whenever a recording starts or ends, even if one did both since the last overview. */
function stateOf({ recordings, days }: Overview): string {
  const finished = days.reduce((sum, { completed, failed }) => sum + completed + failed, 0);
  return [finished, ...recordings.map(({ id }) => id).sort()].join();
}

/** Merges the current first page with the further recordings of an earlier state. Newer recordings have higher ids. */
function listedOf(first: readonly ShownRecording[], known: readonly ShownRecording[]): readonly ShownRecording[] {
  const last = first.at(-1)?.id;
  return [...first, ...known.filter(({ id }) => last === undefined || id < last)];
}

/** Returns a ref that calls `onVisible` when its element comes into view; null: no call. */
function useVisibility(onVisible: (() => Promise<void>) | null): (element: Element | null) => void {
  const [element, setElement] = useState<Element | null>(null);
  useEffect(() => {
    if (element === null || onVisible === null) return;
    const observer = new IntersectionObserver(
      (entries) => entries.some((entry) => entry.isIntersecting) && void onVisible(),
      { rootMargin: "400px" },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [element, onVisible]);
  return setElement;
}
