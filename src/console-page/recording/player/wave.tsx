import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Outline, Waveform } from "../../../console/contract.ts";
import { clock } from "../../format.ts";
import { queryOf } from "../../route.ts";
import { strings } from "../../strings.ts";
import { useAnswer } from "../../use-answer.ts";
import { drawWave } from "./draw-wave.ts";
import type { Playback } from "./playback.ts";
import { barsOf, peaksOf, type View, viewAround } from "./wave-bars.ts";

/** Distance between the left edges of two bars, in pixels. */
const barStep = 3;
/** Maximum number of peaks per request: enough for two per bar on a wide screen. */
const mostPeaks = 2_000;

interface WaveProps {
  readonly recordingId: string;
  readonly playback: Playback;
  readonly outline: Outline;
  /** Whether the server has the waveform. */
  readonly hasPeaks: boolean;
  readonly durationSeconds: number;
  readonly magnification: number;
  /** Called when the user seeks. */
  readonly onSeek: () => void;
}

/** Renders the waveform in the colours of the speakers, as a slider for the keyboard and the pointer. */
export function Wave(props: WaveProps) {
  const { recordingId, playback, outline, hasPeaks, durationSeconds, magnification, onSeek } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const slider = useRef<HTMLInputElement>(null);
  const width = useWidth(canvas);
  const [view, setView] = useState<View>({ from: 0, to: durationSeconds });
  useEffect(
    () => setView(viewAround(playback.seconds, durationSeconds, magnification)),
    [playback, durationSeconds, magnification],
  );
  const stretch = queryOf({ from: String(view.from), to: String(view.to), most: String(mostPeaks) });
  const waveform = useAnswer<Waveform>(hasPeaks ? `recordings/${recordingId}/waveform${stretch}` : null).value;
  const peaks = useMemo(() => (waveform === null ? null : peaksOf(waveform)), [waveform]);
  const count = Math.max(1, Math.floor(width / barStep));
  const bars = useMemo(() => barsOf(peaks, outline, view, count), [peaks, outline, view, count]);
  const look = useLook();

  // `look` is a dependency because the colours depend on the theme.
  useEffect(() => {
    const show = (seconds: number) => {
      if (canvas.current !== null) drawWave(canvas.current, { bars, view, seconds, barStep });
      if (slider.current === null) return;
      slider.current.value = String(seconds);
      slider.current.ariaValueText = strings.player.place(clock(seconds), clock(durationSeconds));
    };
    show(playback.seconds);
    return playback.onTime((seconds) => {
      show(seconds);
      const isOutside = seconds < view.from || seconds > view.to;
      if (isOutside && magnification > 1) setView(viewAround(seconds, durationSeconds, magnification));
    });
  }, [bars, view, playback, durationSeconds, magnification, look, width]);

  return (
    <div class="wave">
      <canvas ref={canvas} />
      <input
        ref={slider}
        type="range"
        min={view.from}
        max={view.to}
        step="any"
        aria-label={strings.player.slider}
        onInput={(event) => {
          onSeek();
          playback.seek(event.currentTarget.valueAsNumber);
        }}
      />
    </div>
  );
}

/** Returns the width of an element, updated when it changes. */
function useWidth(element: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (element.current === null) return;
    const observer = new ResizeObserver(([entry]) => setWidth(entry?.contentRect.width ?? 0));
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return width;
}

/** Returns a number that changes when the page switches between light and dark. */
function useLook(): number {
  const [look, setLook] = useState(0);
  useEffect(() => {
    const change = () => setLook((before) => before + 1);
    const system = matchMedia("(prefers-color-scheme: dark)");
    system.addEventListener("change", change);
    const chosen = new MutationObserver(change);
    chosen.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => {
      system.removeEventListener("change", change);
      chosen.disconnect();
    };
  }, []);
  return look;
}
