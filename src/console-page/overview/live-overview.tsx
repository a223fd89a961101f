import { type ComponentChildren, createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import type { Overview, Session } from "../../console/contract.ts";
import { ask, dataUrl, troubleOf } from "../server.ts";

interface LiveOverview {
  /** The newest; null until there is one. */
  readonly value: Overview | null;
  /** Whether changes are heard of now. */
  readonly isLive: boolean;
  /** Why there is none. */
  readonly trouble: string | null;
}

const nothing: LiveOverview = { value: null, isLive: false, trouble: null };
const context = createContext<LiveOverview>(nothing);

/** How the server stands, as it changes. */
export const useOverview = () => useContext(context);

/** Milliseconds until the first try to connect again; each that fails doubles it, up to the last. */
const firstPause = 1_000;
const longestPause = 15_000;

/** A browser has few connections to a server for all its windows: one that nobody sees gives its own back. */
const isHidden = () => document.visibilityState === "hidden";

/** Listens to the server for all screens, through one connection. */
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
    // A browser gives up where it is answered with an error; that of a session that has ended shows the way in.
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
