import type { RefObject } from "preact";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Find, Mark } from "../../contract/index.ts";
import { announce } from "../announce.tsx";
import { IconButton, SearchField } from "../parts/index.ts";
import { call, messageOf } from "../server.ts";
import { strings } from "../strings.ts";

const texts = strings.find;

/** One match of the search. */
export interface Match {
  readonly segment: number;
  readonly mark: Mark;
}

interface SearchResult {
  readonly words: string;
  /** The matches loaded so far. */
  readonly matches: readonly Match[];
  readonly total: number;
  readonly nextAfter: number | null;
}

const noResult: SearchResult = { words: "", matches: [], total: 0, nextAfter: null };
/** Time without a keystroke before a search starts. */
const SEARCH_DELAY_MILLISECONDS = 200;

/**
 * Searches a whole transcript, most of which is not rendered.
 * @param revision number of the transcript's revision; the search is repeated after a change
 * @param onMatch called with the match to show
 */
export function useFind(recordingId: string, initial: string, revision: number, onMatch: (match: Match) => void) {
  const [words, setWords] = useState(initial);
  const [result, setResult] = useState(noResult);
  const [current, setCurrent] = useState(-1);
  const [problem, setProblem] = useState<string | null>(null);
  // A recording opened from the search shows the match in the URL, not the first match.
  const isFirst = useRef(initial !== "");
  /** The words of the last search. */
  const searched = useRef("");

  const load = useCallback(
    async (after: number | null, signal?: AbortSignal) => {
      setProblem(null);
      try {
        return await call("find", { id: recordingId, query: { q: words.trim(), limit: 1000, after } }, signal);
      } catch (error) {
        if (signal?.aborted !== true) setProblem(messageOf(error));
        return null;
      }
    },
    [recordingId, words],
  );

  useEffect(() => {
    if (words.trim() === "") {
      setResult(noResult);
      setCurrent(-1);
      setProblem(null);
      return;
    }
    const aborted = new AbortController();
    const timer = setTimeout(async () => {
      const found = await load(null, aborted.signal);
      if (found === null || aborted.signal.aborted) return;
      const matches = matchesOf(found);
      const isRepeated = searched.current === words;
      searched.current = words;
      setResult({ words, matches, total: found.total, nextAfter: found.next_after });
      setCurrent((before) => Math.min(isRepeated ? Math.max(0, before) : 0, matches.length - 1));
      if (isRepeated) return;
      announce(texts.found(found.total));
      if (matches[0] !== undefined && !isFirst.current) onMatch(matches[0]);
      isFirst.current = false;
    }, SEARCH_DELAY_MILLISECONDS);
    return () => {
      clearTimeout(timer);
      aborted.abort();
    };
  }, [words, revision, load, onMatch]);

  const step = async (by: 1 | -1) => {
    let { matches } = result;
    if (by > 0 && current === matches.length - 1 && result.nextAfter !== null) {
      const more = await load(result.nextAfter);
      if (more === null) return;
      matches = [...matches, ...matchesOf(more)];
      setResult({ ...result, matches, nextAfter: more.next_after });
    }
    const next = (current + by + matches.length) % matches.length;
    const match = matches[next];
    if (match === undefined) return;
    setCurrent(next);
    onMatch(match);
    announce(texts.at(next + 1, result.total));
  };

  const marks = useMemo(() => {
    const bySegment = Map.groupBy(result.matches, ({ segment }) => segment);
    return new Map([...bySegment].map(([segment, matches]) => [segment, matches.map(({ mark }) => mark)]));
  }, [result.matches]);

  const isSearching = words.trim() !== "" && result.words !== words;
  const match = result.matches[current] ?? null;
  return { words, setWords, isSearching, problem, total: result.total, current, step, marks, match };
}

function matchesOf({ matches }: Find): Match[] {
  return matches.flatMap(({ segment, marks }) => marks.map((mark) => ({ segment, mark })));
}

interface FindBarProps {
  readonly finder: ReturnType<typeof useFind>;
  readonly field: RefObject<HTMLInputElement | null>;
}

/** Renders the search field of the transcript, the number of matches, and buttons for the previous and next match. */
export function FindBar({ finder, field }: FindBarProps) {
  const { words, setWords, isSearching, problem, total, current, step } = finder;
  const hasResult = words.trim() !== "" && !isSearching;
  const press = (event: KeyboardEvent) => {
    if (event.key === "Enter") void step(event.shiftKey ? -1 : 1);
    if (event.key === "Escape") setWords("");
  };
  return (
    <search class="find">
      <SearchField label={texts.label} words={words} onWords={setWords} onKeyDown={press} field={field} />
      <span role="alert">{problem !== null && <span class="problem">{problem}</span>}</span>
      {hasResult && <span class="soft count">{total === 0 ? texts.none : texts.at(current + 1, total)}</span>}
      {hasResult && total > 0 && (
        <>
          <IconButton icon="up" label={texts.previous} onClick={() => void step(-1)} />
          <IconButton icon="down" label={texts.next} onClick={() => void step(1)} />
        </>
      )}
    </search>
  );
}
