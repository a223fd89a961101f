import { type ComponentChildren, createContext } from "preact";
import { useCallback, useContext, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { call, RequestError, urlOf } from "../server.ts";
import { strings } from "../strings.ts";
import { Capture, CaptureError, type CaptureListener, type SourceChoice } from "./capture.ts";
import { browserClock } from "./live-connection.ts";
import { LiveSession, type LiveState, type Source } from "./live-session.ts";
import { forgetSession, type LiveSetup, type StoredSession, storedSession, storeSession } from "./stored-session.ts";
import { useOnline, useWakeLock, useWarningBeforeLeave } from "./while-running.ts";

interface Live {
  /** The session of this page, running or ended; null for none. */
  readonly session: LiveSession | null;
  readonly state: LiveState | null;
  readonly setup: LiveSetup | null;
  /** A session of this tab that ran when the page was left; null for none. */
  readonly unfinished: StoredSession | null;
  /** Starts a session. Call it in a click of the user. @throws {Error} with a message for the user */
  start(setup: LiveSetup, source: SourceChoice): Promise<void>;
  /** Continues the unfinished session. @throws {Error} with a message for the user */
  proceed(): Promise<void>;
  /** Ends the unfinished session. */
  endUnfinished(): void;
  /** Puts the ended session away. */
  leave(): void;
}

const context = createContext<Live | null>(null);

/** Returns the live session of this page. */
export function useLive(): Live {
  const live = useContext(context);
  if (live === null) throw new Error("there is no provider of live sessions");
  return live;
}

/** A source without sound, for a session that only ends. */
const noSound = (sampleRate: number): Source => ({
  sampleRate,
  pause() {},
  async resume() {},
  wake() {},
  stop() {},
});

/** Holds the live session of this page, which continues while the user visits other screens. */
export function LiveProvider({ children }: { children: ComponentChildren }) {
  const [state, setState] = useState<LiveState | null>(null);
  const [setup, setSetup] = useState<LiveSetup | null>(null);
  const [unfinished, setUnfinished] = useState(storedSession);
  const session = useRef<LiveSession | null>(null);
  const isRunning = state !== null && state.phase !== "ended";
  useWarningBeforeLeave(isRunning);
  useWakeLock(state?.phase === "running" && !state.isPaused);
  useOnline(session);
  // The session ends with the sign-out, which removes this provider.
  useEffect(
    () => () => {
      session.current?.close();
      forgetSession();
    },
    [],
  );
  useEffect(() => {
    if (state?.id == null || setup === null || session.current === null) return;
    if (isRunning)
      storeSession({ id: state.id, setup, sampleRate: session.current.sampleRate, names: state.text.names });
    else forgetSession();
  }, [isRunning, state?.id, state?.text.names, setup]);

  const open = useCallback((source: Source, given: LiveSetup, stored: StoredSession | null) => {
    setSetup(given);
    setUnfinished(null);
    const opened = new LiveSession({
      ...{ source, stored, onState: setState, clock: browserClock, isSignedIn, keep: given.keep },
      open: (resume, nextSegment) => new WebSocket(socketUrl(given, source.sampleRate, resume, nextSegment)),
    });
    session.current = opened;
    setState(opened.state);
  }, []);

  const record = useCallback(
    async (given: LiveSetup, choice: SourceChoice, stored: StoredSession | null) => {
      const listener: CaptureListener = {
        frame: (frame, level) => session.current?.frame(frame, level),
        lost: () => session.current?.lost(),
      };
      try {
        open(await Capture.open(choice, stored?.sampleRate ?? null, listener), given, stored);
      } catch (error) {
        throw error instanceof CaptureError ? new Error(strings.live.faults[error.fault]) : error;
      }
    },
    [open],
  );

  const live = useMemo<Live>(
    () => ({
      ...{ session: session.current, state, setup, unfinished },
      start: (given, choice) => record(given, choice, null),
      async proceed() {
        if (unfinished !== null) await record(unfinished.setup, unfinished.setup.source, unfinished);
      },
      endUnfinished() {
        if (unfinished === null) return;
        open(noSound(unfinished.sampleRate), unfinished.setup, unfinished);
        session.current?.end();
      },
      leave() {
        session.current = null;
        setState(null);
      },
    }),
    [state, setup, unfinished, record, open],
  );
  return <context.Provider value={live}>{children}</context.Provider>;
}

function socketUrl(setup: LiveSetup, sampleRate: number, resume: string | null, nextSegment: number): string {
  const { account, workspace, language, prompt, name, keep } = setup;
  return urlOf("live", {
    query: {
      ...{ account: account.id, workspace, language, prompt, name, keep },
      ...{ sample_rate: sampleRate, encoding: "pcm16", turns: "auto", resume, from_segment: nextSegment },
    },
  }).replace(/^http/, "ws");
}

/** Asks the server, because a browser does not show a page why a WebSocket was refused. */
async function isSignedIn(): Promise<boolean | null> {
  try {
    await call("session", {});
    return true;
  } catch (error) {
    return error instanceof RequestError && error.code === "not_signed_in" ? false : null;
  }
}
