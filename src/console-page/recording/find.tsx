import type { RefObject } from "preact";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Find, Mark } from "../../console/contract.ts";
import { announce } from "../announce.tsx";
import { IconButton, SearchField } from "../parts/index.ts";
import { queryOf } from "../route.ts";
import { ask, troubleOf } from "../server.ts";
import { strings } from "../strings.ts";

/** One match of the search. */
export interface Found {
  readonly segment: number;
  readonly start: number;
  readonly mark: Mark;
}

interface Finding {
  readonly words: string;
  readonly places: readonly Found[];
  readonly total: number;
  readonly nextAfter: number | null;
}

const nothing: Finding = { words: "", places: [], total: 0, nextAfter: null };
/** Milliseconds without a keystroke before a search starts. */
const pause = 200;

/**
 * Searches a whole transcript, most of which is not rendered.
 * @param onFound called with the match to show
 */
export function useFind(recordingId: string, initial: string, onFound: (place: Found) => void) {
  const [words, setWords] = useState(initial);
  const [finding, setFinding] = useState(nothing);
  const [current, setCurrent] = useState(-1);
  const [trouble, setTrouble] = useState<string | null>(null);
  const show = useRef(onFound);
  show.current = onFound;
  // A recording opened from the search shows the match in the URL, not the first match.
  const isFirst = useRef(initial !== "");

  const fetchPlaces = useCallback(
    async (after: number | null, signal?: AbortSignal) => {
      const query = queryOf({ q: words.trim(), limit: "1000", after: after === null ? "" : String(after) });
      setTrouble(null);
      return await ask<Find>(`recordings/${recordingId}/find${query}`, signal === undefined ? {} : { signal }).catch(
        (error: unknown) => {
          if (signal?.aborted !== true) setTrouble(troubleOf(error));
          return null;
        },
      );
    },
    [recordingId, words],
  );

  useEffect(() => {
    if (words.trim() === "") {
      setFinding(nothing);
      setCurrent(-1);
      setTrouble(null);
      return;
    }
    const ended = new AbortController();
    const timer = setTimeout(async () => {
      const found = await fetchPlaces(null, ended.signal);
      if (found === null || ended.signal.aborted) return;
      const places = placesOf(found);
      setFinding({ words, places, total: found.total, nextAfter: found.next_after });
      setCurrent(places.length > 0 ? 0 : -1);
      announce(strings.find.found(found.total));
      if (places[0] !== undefined && !isFirst.current) show.current(places[0]);
      isFirst.current = false;
    }, pause);
    return () => {
      clearTimeout(timer);
      ended.abort();
    };
  }, [words, fetchPlaces]);

  const step = async (by: 1 | -1) => {
    let { places } = finding;
    if (by > 0 && current === places.length - 1 && finding.nextAfter !== null) {
      const more = await fetchPlaces(finding.nextAfter);
      if (more === null) return;
      places = [...places, ...placesOf(more)];
      setFinding({ ...finding, places, nextAfter: more.next_after });
    }
    if (places.length === 0) return;
    const next = (current + by + places.length) % places.length;
    setCurrent(next);
    const place = places[next];
    if (place === undefined) return;
    show.current(place);
    announce(strings.find.at(next + 1, finding.total));
  };

  const marks = useMemo(() => {
    const bySegment = new Map<number, Mark[]>();
    for (const { segment, mark } of finding.places) bySegment.set(segment, [...(bySegment.get(segment) ?? []), mark]);
    return bySegment;
  }, [finding.places]);

  const isLooking = words.trim() !== "" && finding.words !== words;
  const place = finding.places[current] ?? null;
  return { words, setWords, isLooking, trouble, total: finding.total, current, step, marks, place };
}

export type Finder = ReturnType<typeof useFind>;

function placesOf({ matches }: Find): Found[] {
  return matches.flatMap(({ segment, start, marks }) => marks.map((mark) => ({ segment, start, mark })));
}

const texts = strings.find;

/**
 * Renders the search field of the transcript, the number of matches, and buttons for the previous and the next match.
 */
export function FindBar({ finder, field }: { finder: Finder; field: RefObject<HTMLInputElement | null> }) {
  const { words, setWords, isLooking, trouble, total, current, step } = finder;
  const isAsked = words.trim() !== "" && !isLooking;
  const keyed = (event: KeyboardEvent) => {
    if (event.key === "Enter") void step(event.shiftKey ? -1 : 1);
    if (event.key === "Escape") setWords("");
  };
  return (
    <search class="find">
      <SearchField label={texts.label} words={words} onWords={setWords} onKeyDown={keyed} field={field} />
      <span role="alert">{trouble !== null && <span class="trouble">{trouble}</span>}</span>
      {isAsked && <span class="soft count">{total === 0 ? texts.none : texts.at(current + 1, total)}</span>}
      {isAsked && total > 0 && (
        <>
          <IconButton icon="up" label={texts.previous} onClick={() => void step(-1)} />
          <IconButton icon="down" label={texts.next} onClick={() => void step(1)} />
        </>
      )}
    </search>
  );
}
