import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";
import type { LiveSession } from "./live-session.ts";

/** Keeps the screen on, so that a phone does not stop to record. */
export function useWakeLock(isNeeded: boolean): void {
  useEffect(() => {
    if (!isNeeded) return;
    let lock: WakeLockSentinel | null = null;
    let isOver = false;
    // The browser ends the lock when the page is hidden, and refuses it when the battery is low.
    const request = async () => {
      if (document.visibilityState !== "visible") return;
      lock = (await navigator.wakeLock?.request("screen").catch(() => null)) ?? null;
      if (isOver) await lock?.release();
    };
    const change = () => void request();
    change();
    document.addEventListener("visibilitychange", change);
    return () => {
      isOver = true;
      document.removeEventListener("visibilitychange", change);
      void lock?.release();
    };
  }, [isNeeded]);
}

/** Makes the browser ask before it leaves the page. */
export function useWarningBeforeLeave(isNeeded: boolean): void {
  useEffect(() => {
    if (!isNeeded) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }, [isNeeded]);
}

/** Tells the session when the browser is online or offline, and when the user returns to the page. */
export function useOnline(session: RefObject<LiveSession | null>): void {
  useEffect(() => {
    const online = () => session.current?.setOnline(true);
    const offline = () => session.current?.setOnline(false);
    const show = () => document.visibilityState === "visible" && session.current?.wake();
    addEventListener("online", online);
    addEventListener("offline", offline);
    document.addEventListener("visibilitychange", show);
    return () => {
      removeEventListener("online", online);
      removeEventListener("offline", offline);
      document.removeEventListener("visibilitychange", show);
    };
  }, [session]);
}
