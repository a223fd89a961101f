import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Listening, Outline } from "../../../console/contract.ts";
import { clock } from "../../format.ts";
import { Icon, IconButton, ProgressBar, Told } from "../../parts/index.ts";
import { dataUrl } from "../../server.ts";
import { strings } from "../../strings.ts";
import { useAnswer } from "../../use-answer.ts";
import { type Playback, rates, usePlaybackState, useWholeSeconds } from "./playback.ts";
import { Wave } from "./wave.tsx";
import { canMagnify } from "./wave-bars.ts";

const texts = strings.player;

interface PlayerProps {
  readonly recordingId: string;
  readonly playback: Playback;
  readonly outline: Outline;
  readonly durationSeconds: number;
  /** Status of the playback copy when the recording was loaded. */
  readonly listening: Listening;
  /** Called when the user seeks on the waveform. */
  readonly onSeek: () => void;
}

/** Renders the player: the waveform, and the controls below it. */
export function Player({ recordingId, playback, outline, durationSeconds, listening, onSeek }: PlayerProps) {
  const [magnification, setMagnification] = useState(1);
  const { now, look } = useListening(recordingId, listening);
  const isReady = now.state === "ready";
  useEffect(() => {
    if (isReady) playback.load(dataUrl(`recordings/${recordingId}/audio`));
  }, [isReady, playback, recordingId]);
  const again = () => {
    // The copy may have been deleted together with the recording.
    look();
    playback.reload();
  };
  return (
    <section class="player" aria-label={texts.name}>
      <Wave {...{ recordingId, playback, outline, durationSeconds, magnification, onSeek }} hasPeaks={isReady} />
      {isReady ? (
        <Controls playback={playback} durationSeconds={durationSeconds} onAgain={again}>
          <IconButton
            icon="less"
            label={texts.wider}
            disabled={magnification === 1}
            onClick={() => setMagnification((before) => Math.max(1, before / 4))}
          />
          <IconButton
            icon="more"
            label={texts.closer}
            disabled={!canMagnify(durationSeconds, magnification)}
            onClick={() => setMagnification((before) => before * 4)}
          />
        </Controls>
      ) : now.state === "failed" ? (
        <Told trouble={now.message} again={look} />
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
  /** Called when the user retries after a playback error. */
  readonly onAgain: () => void;
  readonly children: ComponentChildren;
}

/**
 * Renders the controls to play, skip and set the speed, and shows the time.
 * @param props.children more buttons at the end
 */
export function Controls({ playback, durationSeconds, onAgain, children }: ControlsProps) {
  const { isPlaying, rate, isBroken } = usePlaybackState(playback);
  const seconds = useWholeSeconds(playback);
  if (isBroken) return <Told trouble={texts.broken} again={onAgain} />;
  return (
    <div class="controls">
      <div class="transport">
        <IconButton icon="back" label={texts.back} onClick={() => playback.skip(-1)} />
        <button type="button" class="main round" onClick={() => playback.toggle()}>
          <Icon name={isPlaying ? "pause" : "play"} />
          <span class="unseen">{isPlaying ? texts.pause : texts.play}</span>
        </button>
        <IconButton icon="forward" label={texts.forward} onClick={() => playback.skip(1)} />
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

/** Milliseconds between two requests for the progress of the playback copy. */
const lookEvery = 1_000;

/**
 * Returns the status of the playback copy. If it is missing, the request makes the server create it.
 * @param first status when the recording was loaded
 * @returns the status as `now`, and `look`, which requests it again
 */
export function useListening(recordingId: string, first: Listening) {
  const [isAsked, setAsked] = useState(first.state !== "ready");
  const { value, again } = useAnswer<Listening>(isAsked ? `recordings/${recordingId}/listening` : null);
  useEffect(() => {
    const timer = value?.state === "making" ? setTimeout(again, lookEvery) : undefined;
    return () => clearTimeout(timer);
  }, [value, again]);
  const look = () => {
    setAsked(true);
    again();
  };
  return { now: value ?? first, look };
}
