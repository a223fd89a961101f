import { useCallback, useEffect, useState } from "preact/hooks";
import { ask, Refusal } from "./server.ts";

export interface Answer<T> {
  /** What was answered last, also while it is asked again; null before. */
  readonly value: T | null;
  readonly refusal: Refusal | null;
  readonly isAsking: boolean;
  /** Asks again. */
  readonly again: () => void;
  /** Puts another in its place, as an answer to a change gives it. */
  readonly set: (value: T) => void;
}

/**
 * What the server answers to a GET of a path; asked anew when the path changes, with what was there kept until the new
 * answer has come. Null asks nothing.
 */
export function useAnswer<T>(path: string | null): Answer<T> {
  const [state, setState] = useState<{ value: T | null; refusal: Refusal | null }>({ value: null, refusal: null });
  const [isAsking, setAsking] = useState(path !== null);
  const [round, setRound] = useState(0);
  useEffect(() => {
    if (path === null) return;
    const ended = new AbortController();
    setAsking(true);
    ask<T>(path, { signal: ended.signal }).then(
      (value) => {
        setState({ value, refusal: null });
        setAsking(false);
      },
      (error: unknown) => {
        if (ended.signal.aborted) return;
        setState(({ value }) => ({
          value,
          refusal: error instanceof Refusal ? error : new Refusal(0, "", `${error}`),
        }));
        setAsking(false);
      },
    );
    return () => ended.abort();
  }, [path, round]);
  const again = useCallback(() => setRound((before) => before + 1), []);
  const set = useCallback((value: T) => setState({ value, refusal: null }), []);
  return { ...state, isAsking, again, set };
}
