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
