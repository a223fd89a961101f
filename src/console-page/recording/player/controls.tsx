import type { ComponentChildren } from "preact";
import { clock } from "../../format.ts";
import { Icon, IconButton, Told } from "../../parts/index.ts";
import { strings } from "../../strings.ts";
import { type Playback, rates, usePlaybackState, useWholeSeconds } from "./playback.ts";

const texts = strings.player;

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
