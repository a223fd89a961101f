import { useCallback, useEffect, useState } from "preact/hooks";
import { ask, Refusal, retryMilliseconds, troubleOf } from "./server.ts";

export interface Answer<T> {
  /** The last response, also while a new request runs; null before the first. */
  readonly value: T | null;
  /** Reason why the last request failed. */
  readonly trouble: string | null;
  readonly isAsking: boolean;
  /** Sends the request again. */
  readonly again: () => void;
  /** Replaces the value, for example with the response to a change. */
  readonly set: (value: T) => void;
}

/**
 * Loads a path with GET, and again when the path changes. The old value stays until the new response arrives. After a
 * temporary failure, the request is retried after a delay. A null path sends no request.
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
