import { type ComponentChildren, createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import type { Overview } from "../../contract/index.ts";
import { call, messageOf, urlOf } from "../server.ts";
import { useViewer } from "../session.tsx";

interface LiveOverview {
  /** The newest overview; null before the first one. */
  readonly value: Overview | null;
  /** Whether the page currently receives changes. */
  readonly isLive: boolean;
  /** Reason why there is no overview. */
  readonly problem: string | null;
}

const initial: LiveOverview = { value: null, isLive: false, problem: null };
const context = createContext<LiveOverview>(initial);

/** Returns the live overview of the server. */
export const useOverview = () => useContext(context);

/** Delay before the first attempt to reconnect, and its maximum. Every failed attempt doubles the delay. */
const FIRST_DELAY_MILLISECONDS = 1_000;
const MAX_DELAY_MILLISECONDS = 15_000;

/**
 * Returns whether the page is hidden. A hidden page closes its connection, because a browser limits the connections to
 * a server across all windows.
 */
const isHidden = () => document.visibilityState === "hidden";

/** Provides the live overview to all screens through one connection. Only operators have one. */
export function OverviewProvider({ children }: { children: ComponentChildren }) {
  const [live, setLive] = useState(initial);
  const { isOperator } = useViewer();
  useEffect(() => {
    if (!isOperator) return;
    let events: EventSource | null = null;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let delay = FIRST_DELAY_MILLISECONDS;
    let isEnded = false;
    const change = (next: Partial<LiveOverview>) => setLive((before) => ({ ...before, ...next }));
    const receive = (value: Overview) => {
      delay = FIRST_DELAY_MILLISECONDS;
      change({ value, isLive: true, problem: null });
    };
    const disconnect = () => {
      events?.close();
      events = null;
      clearTimeout(timer);
    };
    const connect = () => {
      if (isEnded || isHidden() || events !== null) return;
      events = new EventSource(urlOf("overviewEvents", {}));
      events.addEventListener("overview", ({ data }) => receive(JSON.parse(data)));
      events.onopen = () => change({ isLive: true });
      events.onerror = () => {
        change({ isLive: false });
        if (events?.readyState !== EventSource.CLOSED) return;
        disconnect();
        reconnectLater();
      };
    };
    // A browser stops reconnecting after an error response. If the session has ended, the request below shows the
    // sign-in screen.
    const reconnectLater = () => {
      if (isEnded) return;
      timer = setTimeout(async () => {
        delay = Math.min(delay * 2, MAX_DELAY_MILLISECONDS);
        await call("session", {}).then(connect, reconnectLater);
      }, delay);
    };
    const changeVisibility = () => (isHidden() ? disconnect() : connect());
    document.addEventListener("visibilitychange", changeVisibility);
    call("overview", {}).then(receive, (error) => change({ problem: messageOf(error) }));
    connect();
    return () => {
      isEnded = true;
      document.removeEventListener("visibilitychange", changeVisibility);
      disconnect();
    };
  }, [isOperator]);
  return <context.Provider value={live}>{children}</context.Provider>;
}
