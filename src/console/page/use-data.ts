import { useCallback, useEffect, useState } from "preact/hooks";
import type { Answers, Requests } from "../contract/index.ts";
import { call, type JsonRouteName, messageOf, RETRY_MILLISECONDS, RequestError, urlOf } from "./server.ts";

/**
 * Loads the answer of a route, and again when the request changes. The old value stays until the new response arrives.
 * After a temporary failure, the request is retried after a delay. Null sends no request.
 * @returns `value` null before the first response; `problem` why the last request failed, or null; `retry` sends the
 * request again; `set` replaces the value, for example with the response to a change
 */
export function useData<Name extends JsonRouteName>(name: Name, parts: Requests[Name] | null) {
  type Answer = Answers[Name];
  const [state, setState] = useState<{ value: Answer | null; problem: string | null }>({ value: null, problem: null });
  const url = parts === null ? null : urlOf(name, parts);
  const [isLoading, setLoading] = useState(url !== null);
  const [round, setRound] = useState(0);
  const retry = useCallback(() => setRound((before) => before + 1), []);
  useEffect(() => {
    if (parts === null) return;
    const aborted = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    setLoading(true);
    call(name, parts, aborted.signal).then(
      (value) => {
        setState({ value, problem: null });
        setLoading(false);
      },
      (error: unknown) => {
        if (aborted.signal.aborted) return;
        setState(({ value }) => ({ value, problem: messageOf(error) }));
        setLoading(false);
        if (error instanceof RequestError && error.isTemporary) timer = setTimeout(retry, RETRY_MILLISECONDS);
      },
    );
    return () => {
      aborted.abort();
      clearTimeout(timer);
    };
  }, [url, round, retry]);
  const set = useCallback((value: Answer) => setState({ value, problem: null }), []);
  return { ...state, isLoading, retry, set };
}

/** Interval between two reads of recordings in progress, for people who have no live overview. */
const POLL_MILLISECONDS = 4_000;

/** Calls `read` again and again while it is needed and the page is visible. */
export function usePolling(isNeeded: boolean, read: () => void): void {
  useEffect(() => (isNeeded ? poll(POLL_MILLISECONDS, read) : undefined), [isNeeded, read]);
}

/**
 * Calls `read` at an interval while the page is visible, and when it becomes visible again. Returns a function that ends
 * this.
 */
export function poll(milliseconds: number, read: () => void): () => void {
  const readIfVisible = () => {
    if (document.visibilityState === "visible") read();
  };
  const timer = setInterval(readIfVisible, milliseconds);
  document.addEventListener("visibilitychange", readIfVisible);
  return () => {
    clearInterval(timer);
    document.removeEventListener("visibilitychange", readIfVisible);
  };
}

/** Runs actions of the user, and holds the message of the last one's error. */
export function useAttempt() {
  const [problem, setProblem] = useState<string | null>(null);
  const [isRunning, setRunning] = useState(false);
  const attempt = useCallback(async (action: () => Promise<void>) => {
    setRunning(true);
    setProblem(null);
    await action().catch((error: unknown) => setProblem(messageOf(error)));
    setRunning(false);
  }, []);
  return { problem, isRunning, attempt };
}
