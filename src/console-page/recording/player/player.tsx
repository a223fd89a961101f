import { useEffect, useState } from "preact/hooks";
import type { Listening, Outline } from "../../../console/contract.ts";
import { IconButton, ProgressBar, Told } from "../../parts/index.ts";
import { dataUrl } from "../../server.ts";
import { strings } from "../../strings.ts";
import { Controls } from "./controls.tsx";
import type { Playback } from "./playback.ts";
import { useListening } from "./use-listening.ts";
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

/** Plays the recording: the strip of its sound, and the controls below. */
export function Player({ recordingId, playback, outline, durationSeconds, listening, onSeek }: PlayerProps) {
  const [magnification, setMagnification] = useState(1);
  const { now, look } = useListening(recordingId, listening);
  const isReady = now.state === "ready";
  useEffect(() => {
    if (isReady) playback.load(dataUrl(`recordings/${recordingId}/audio`));
  }, [isReady, playback, recordingId]);
  const again = () => {
    // It may be gone, with the recording itself.
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
