import { useCallback, useEffect, useState } from "preact/hooks";
import { ask, Refusal, retryMilliseconds, troubleOf } from "./server.ts";

export interface Answer<T> {
  /** What was answered last, also while it is asked again; null before. */
  readonly value: T | null;
  /** Why the last try brought nothing. */
  readonly trouble: string | null;
  readonly isAsking: boolean;
  /** Asks again. */
  readonly again: () => void;
  /** Puts another in its place, as an answer to a change gives it. */
  readonly set: (value: T) => void;
}

/**
 * What the server answers to a GET of a path; asked anew when the path changes, with what was there kept until the new
 * answer has come, and again after a while where it was refused for now. A path of null asks nothing.
 */
export function useAnswer<T>(path: string | null): Answer<T> {
  const [state, setState] = useState<Pick<Answer<T>, "value" | "trouble">>({ value: null, trouble: null });
  const [isAsking, setAsking] = useState(path !== null);
  const [round, setRound] = useState(0);
  const again = useCallback(() => setRound((before) => before + 1), []);
  useEffect(() => {
    if (path === null) return;
    const ended = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    setAsking(true);
    ask<T>(path, { signal: ended.signal }).then(
      (value) => {
        setState({ value, trouble: null });
        setAsking(false);
      },
      (error: unknown) => {
        if (ended.signal.aborted) return;
        setState(({ value }) => ({ value, trouble: troubleOf(error) }));
        setAsking(false);
        if (error instanceof Refusal && error.mayPass) timer = setTimeout(again, retryMilliseconds);
      },
    );
    return () => {
      ended.abort();
      clearTimeout(timer);
    };
  }, [path, round, again]);
  const set = useCallback((value: T) => setState({ value, trouble: null }), []);
  return { ...state, isAsking, again, set };
}
