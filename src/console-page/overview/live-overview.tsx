import { type ComponentChildren, createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import type { Overview, Session } from "../../console/contract.ts";
import { ask, dataUrl, troubleOf } from "../server.ts";

interface LiveOverview {
  /** The newest overview; null before the first one. */
  readonly value: Overview | null;
  /** Whether the page currently receives changes. */
  readonly isLive: boolean;
  /** Reason why there is no overview. */
  readonly trouble: string | null;
}

const nothing: LiveOverview = { value: null, isLive: false, trouble: null };
const context = createContext<LiveOverview>(nothing);

/** Returns the live overview of the server. */
export const useOverview = () => useContext(context);

/** Delay before the first attempt to reconnect, and its maximum. Every failed attempt doubles the delay. */
const firstPause = 1_000;
const longestPause = 15_000;

/**
 * Returns whether the page is hidden. A hidden page closes its connection, because a browser limits the connections to
 * a server across all windows.
 */
const isHidden = () => document.visibilityState === "hidden";

/** Provides the live overview to all screens through one connection. */
export function OverviewProvider({ children }: { children: ComponentChildren }) {
  const [live, setLive] = useState(nothing);
  useEffect(() => {
    let events: EventSource | null = null;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let pause = firstPause;
    let isEnded = false;
    const change = (next: Partial<LiveOverview>) => setLive((before) => ({ ...before, ...next }));
    const hear = (value: Overview) => {
      pause = firstPause;
      change({ value, isLive: true, trouble: null });
    };
    const leave = () => {
      events?.close();
      events = null;
      clearTimeout(timer);
    };
    const connect = () => {
      if (isEnded || isHidden() || events !== null) return;
      events = new EventSource(dataUrl("events"));
      events.addEventListener("overview", ({ data }) => hear(JSON.parse(data)));
      events.onopen = () => change({ isLive: true });
      events.onerror = () => {
        change({ isLive: false });
        if (events?.readyState !== EventSource.CLOSED) return;
        leave();
        later();
      };
    };
    // A browser stops reconnecting after an error response. If the session has ended, the request below shows the
    // sign-in screen.
    const later = () => {
      if (isEnded) return;
      timer = setTimeout(async () => {
        pause = Math.min(pause * 2, longestPause);
        await ask<Session>("session").then(connect, later);
      }, pause);
    };
    const see = () => (isHidden() ? leave() : connect());
    document.addEventListener("visibilitychange", see);
    ask<Overview>("overview").then(hear, (error) => change({ trouble: troubleOf(error) }));
    connect();
    return () => {
      isEnded = true;
      document.removeEventListener("visibilitychange", see);
      leave();
    };
  }, []);
  return <context.Provider value={live}>{children}</context.Provider>;
}
