import { useEffect, useRef } from "preact/hooks";
import { clock } from "../format.ts";
import { Button, Problem } from "../parts/index.ts";
import { strings } from "../strings.ts";
import { useAttempt } from "../use-data.ts";
import type { LiveSession, LiveState } from "./live-session.ts";

const texts = strings.live;

interface LiveBarProps {
  readonly session: LiveSession;
  readonly state: LiveState;
}

/** Shows the level of the sound, the time and the state of the connection, with buttons to pause and to end. */
export function LiveBar({ session, state }: LiveBarProps) {
  const { problem, isRunning, attempt } = useAttempt();
  const { phase, isPaused, seconds } = state;
  const isOn = phase === "running" && !isPaused;
  return (
    <section class="player live-bar" aria-label={texts.bar}>
      <Problem problem={problem} />
      <Level session={session} />
      <div class="controls">
        <span class={isOn ? "time on" : "time"}>
          <span class="live-dot" aria-hidden="true" /> {clock(seconds)}
        </span>
        {phase === "running" && (
          <div class="transport">
            <Button
              look={isPaused ? "main" : null}
              icon={isPaused ? "play" : "pause"}
              text={isPaused ? texts.resume : texts.pause}
              disabled={isRunning}
              onClick={() => (isPaused ? void attempt(() => session.resume()) : session.pause())}
            />
            <Button look={null} icon="stop" text={texts.end} onClick={() => session.end()} />
          </div>
        )}
        <span class={isTrouble(state) ? "problem link" : "soft link"} role="status">
          {stateText(session, state)}
        </span>
      </div>
    </section>
  );
}

/** Draws the level without rendering: it changes ten times a second. */
function Level({ session }: { session: LiveSession }) {
  const filling = useRef<HTMLDivElement>(null);
  useEffect(() => {
    session.onLevel = (level) => filling.current?.style.setProperty("scale", `${level} 1`);
    return () => {
      session.onLevel = () => {};
    };
  }, [session]);
  return (
    <div class="track level" aria-hidden="true">
      <div class="filling" ref={filling} />
    </div>
  );
}

const isTrouble = ({ link, isMute, isBehind }: LiveState) => link === "lost" || isMute || isBehind;

function stateText({ isSourceLost }: LiveSession, { phase, link, isPaused, isMute, isBehind }: LiveState): string {
  const { states } = texts;
  if (link !== "connected") return states[link];
  if (phase === "ending") return states.ending;
  if (isPaused) return isSourceLost ? states.sourceLost : states.paused;
  if (isMute) return states.mute;
  return isBehind ? states.behind : states.listening;
}
