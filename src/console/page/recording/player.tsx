import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Listening, Outline } from "../../contract.ts";
import { clock } from "../format.ts";
import { Icon, ProgressBar } from "../parts/index.ts";
import { dataUrl } from "../server.ts";
import { strings } from "../strings.ts";
import { useAnswer } from "../use-answer.ts";
import { type Playback, rates, usePlaybackState, useWholeSeconds } from "./playback.ts";
import { Wave } from "./wave.tsx";
import { canMagnify } from "./wave-bars.ts";

const texts = strings.player;

interface PlayerProps {
  readonly recordingId: string;
  readonly playback: Playback;
  readonly outline: Outline;
  readonly durationSeconds: number;
  /** As it was when the recording was asked for. */
  readonly listening: Listening;
  /** Called when somebody goes to a place on the strip. */
  readonly onSeek: () => void;
}

/** Milliseconds from one look at how far the copy to listen to is, to the next. */
const lookEvery = 1_000;

/** Plays the recording: the strip of its sound, and the controls below. */
export function Player({ recordingId, playback, outline, durationSeconds, listening, onSeek }: PlayerProps) {
  const [magnification, setMagnification] = useState(1);
  const now = useListening(recordingId, listening);
  const isReady = now.state === "ready";
  useEffect(() => {
    if (isReady) playback.load(dataUrl(`recordings/${recordingId}/audio`));
  }, [isReady, playback, recordingId]);
  return (
    <section class="player" aria-label={texts.name}>
      <Wave {...{ recordingId, playback, outline, durationSeconds, magnification, onSeek }} hasPeaks={isReady} />
      {isReady ? (
        <Controls playback={playback} durationSeconds={durationSeconds}>
          <button
            type="button"
            class="quiet icon"
            aria-label={texts.wider}
            disabled={magnification === 1}
            onClick={() => setMagnification((before) => Math.max(1, before / 4))}
          >
            <Icon name="less" />
          </button>
          <button
            type="button"
            class="quiet icon"
            aria-label={texts.closer}
            disabled={!canMagnify(durationSeconds, magnification)}
            onClick={() => setMagnification((before) => before * 4)}
          >
            <Icon name="more" />
          </button>
        </Controls>
      ) : (
        <div class="controls" role="status">
          <p class="soft">{now.message ?? texts.making}</p>
          {now.state === "making" && <ProgressBar label={texts.making} percent={now.percent} />}
        </div>
      )}
    </section>
  );
}

interface ControlsProps {
  readonly playback: Playback;
  readonly durationSeconds: number;
  readonly children: ComponentChildren;
}

function Controls({ playback, durationSeconds, children }: ControlsProps) {
  const { isPlaying, rate, isBroken } = usePlaybackState(playback);
  const seconds = useWholeSeconds(playback);
  if (isBroken) return <p class="told">{texts.broken}</p>;
  return (
    <div class="controls">
      <div class="transport">
        <button
          type="button"
          class="quiet icon"
          aria-label={texts.back}
          onClick={() => playback.seek(playback.seconds - 5)}
        >
          <Icon name="back" />
        </button>
        <button type="button" class="main round" onClick={() => playback.toggle()}>
          <Icon name={isPlaying ? "pause" : "play"} />
          <span class="unseen">{isPlaying ? texts.pause : texts.play}</span>
        </button>
        <button
          type="button"
          class="quiet icon"
          aria-label={texts.forward}
          onClick={() => playback.seek(playback.seconds + 5)}
        >
          <Icon name="forward" />
        </button>
      </div>
      <p class="time">
        <span>{clock(seconds)}</span> <span class="soft">/ {clock(durationSeconds)}</span>
      </p>
      <label class="rate">
        <span class="unseen">{texts.rate}</span>
        <select
          value={rate}
          onChange={(event) => {
            playback.audio.playbackRate = Number(event.currentTarget.value);
          }}
        >
          {rates.map((one) => (
            <option key={one} value={one}>
              {texts.times(one)}
            </option>
          ))}
        </select>
      </label>
      <div class="zoom">{children}</div>
    </div>
  );
}

/** How the copy to listen to stands; to ask has it made where it is not. */
function useListening(recordingId: string, first: Listening): Listening {
  const [now, setNow] = useState(first);
  const { value, refusal, again } = useAnswer<Listening>(
    first.state === "ready" ? null : `recordings/${recordingId}/listening`,
  );
  useEffect(() => {
    if (value !== null) setNow(value);
    // The server may be starting anew, or the connection be lost for a moment.
    const mayPass = refusal !== null && (refusal.status === 0 || refusal.status >= 500);
    const isToCome = mayPass || value?.state === "making";
    const timer = isToCome ? setTimeout(again, lookEvery) : undefined;
    return () => clearTimeout(timer);
  }, [value, refusal, again]);
  return now;
}
