import { type ComponentChildren, createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import type { Overview, Session } from "../../contract.ts";
import { ask, dataUrl, type Refusal } from "../server.ts";

export interface LiveOverview {
  /** The newest; null until there is one. */
  readonly value: Overview | null;
  /** Whether changes are heard of now. */
  readonly isLive: boolean;
  /** Why there is none. */
  readonly refusal: Refusal | null;
}

const nothing: LiveOverview = { value: null, isLive: false, refusal: null };
const context = createContext<LiveOverview>(nothing);

/** How the server stands, as it changes. */
export const useOverview = () => useContext(context);

/** Milliseconds until the first try to connect again; each that fails doubles it, up to the last. */
const firstPause = 1_000;
const longestPause = 15_000;

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
      change({ value, isLive: true, refusal: null });
    };
    const connect = () => {
      if (isEnded) return;
      events = new EventSource(dataUrl("events"));
      events.addEventListener("overview", ({ data }) => hear(JSON.parse(data)));
      events.onopen = () => change({ isLive: true });
      events.onerror = () => {
        change({ isLive: false });
        if (events?.readyState === EventSource.CLOSED) later();
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
    ask<Overview>("overview").then(hear, (refusal: Refusal) => change({ refusal }));
    connect();
    return () => {
      isEnded = true;
      events?.close();
      clearTimeout(timer);
    };
  }, []);
  return <context.Provider value={live}>{children}</context.Provider>;
}
