import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Outline, RecordingDetail } from "../../../contract/index.ts";
import { clock } from "../../format.ts";
import { Icon, IconButton, Problem, ProgressBar, Select } from "../../parts/index.ts";
import { urlOf } from "../../server.ts";
import { strings } from "../../strings.ts";
import { useData } from "../../use-data.ts";
import { type Playback, RATES, usePlaybackState, useWholeSeconds } from "./playback.ts";
import { Wave } from "./wave.tsx";
import { canMagnify } from "./wave-bars.ts";

const texts = strings.player;

const rates = RATES.map((rate) => ({ id: String(rate), name: texts.times(rate) }));

interface PlayerProps {
  readonly recording: RecordingDetail;
  readonly playback: Playback;
  readonly outline: Outline;
  /** Called when the user seeks on the waveform. */
  readonly onSeek: () => void;
}

/** Renders the player: the waveform, and the controls below it. */
export function Player({ recording, playback, outline, onSeek }: PlayerProps) {
  const recordingId = recording.id;
  const durationSeconds = recording.duration_seconds ?? 0;
  const [magnification, setMagnification] = useState(1);
  const { copy, refresh } = usePlaybackCopy(recording);
  const isReady = copy.state === "ready";
  useEffect(() => {
    if (isReady) playback.load(urlOf("audio", { id: recordingId }));
  }, [isReady, playback, recordingId]);
  const retry = () => {
    // The copy may have been deleted together with the recording.
    refresh();
    playback.reload();
  };
  return (
    <section class="player" aria-label={texts.name}>
      <Wave {...{ recordingId, playback, outline, durationSeconds, magnification, onSeek }} hasPeaks={isReady} />
      {isReady ? (
        <Controls playback={playback} durationSeconds={durationSeconds} onRetry={retry}>
          <IconButton
            icon="less"
            label={texts.zoomOut}
            disabled={magnification === 1}
            onClick={() => setMagnification((before) => Math.max(1, before / 4))}
          />
          <IconButton
            icon="more"
            label={texts.zoomIn}
            disabled={!canMagnify(durationSeconds, magnification)}
            onClick={() => setMagnification((before) => before * 4)}
          />
        </Controls>
      ) : copy.state === "failed" ? (
        <Problem problem={copy.message} retry={refresh} />
      ) : (
        <div class="controls" role="status">
          <p class="soft">{copy.message ?? texts.preparing}</p>
          {copy.state === "making" && <ProgressBar label={texts.preparing} percent={copy.percent} />}
        </div>
      )}
    </section>
  );
}

interface ControlsProps {
  readonly playback: Playback;
  readonly durationSeconds: number;
  /** Called when the user retries after a playback error. */
  readonly onRetry: () => void;
  readonly children: ComponentChildren;
}

/**
 * Renders the controls to play, skip and set the speed, and shows the time.
 * @param props.children more buttons at the end
 */
function Controls({ playback, durationSeconds, onRetry, children }: ControlsProps) {
  const { isPlaying, rate, isBroken } = usePlaybackState(playback);
  const seconds = useWholeSeconds(playback);
  if (isBroken) return <Problem problem={texts.broken} retry={onRetry} />;
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
      <Select
        {...{ label: texts.rate, class: "rate", of: rates, value: String(rate) }}
        onChoose={(chosen) => {
          playback.audio.playbackRate = Number(chosen);
        }}
      />
      <div class="zoom">{children}</div>
    </div>
  );
}

/** Time between two requests for the progress of the playback copy. */
const REFRESH_MILLISECONDS = 1_000;

/** Returns the status of the playback copy. If the copy is missing, the request makes the server create it. */
function usePlaybackCopy({ id, playback_copy: first }: RecordingDetail) {
  const [isRequested, setRequested] = useState(first.state !== "ready");
  const { value, retry } = useData("playbackCopy", isRequested ? { id } : null);
  useEffect(() => {
    const timer = value?.state === "making" ? setTimeout(retry, REFRESH_MILLISECONDS) : undefined;
    return () => clearTimeout(timer);
  }, [value, retry]);
  const refresh = () => {
    setRequested(true);
    retry();
  };
  return { copy: value ?? first, refresh };
}
