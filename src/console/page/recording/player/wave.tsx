import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Outline } from "../../../contract/index.ts";
import { clock } from "../../format.ts";
import { strings } from "../../strings.ts";
import { useData } from "../../use-data.ts";
import { SPEAKER_COLOURS } from "../speakers.tsx";
import type { Playback } from "./playback.ts";
import { type Bar, barsOf, peaksOf, rangeOf, type View, viewAround } from "./wave-bars.ts";

/** Distance between the left edges of two bars, in pixels. */
const BAR_STEP = 3;
/** Maximum number of peaks per request: enough for two per bar on a wide screen. */
const MAX_PEAKS = 2_000;

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
  const query = { ...rangeOf(view), most: MAX_PEAKS };
  const waveform = useData("waveform", hasPeaks ? { id: recordingId, query } : null).value;
  const peaks = useMemo(() => (waveform === null ? null : peaksOf(waveform)), [waveform]);
  const count = Math.max(1, Math.floor(width / BAR_STEP));
  const bars = useMemo(() => barsOf(peaks, outline, view, count), [peaks, outline, view, count]);
  const theme = useThemeChanges();

  // `theme` is a dependency because the colours depend on it.
  useEffect(() => {
    const show = (seconds: number) => {
      if (canvas.current !== null) drawWave(canvas.current, bars, view, seconds);
      if (slider.current === null) return;
      slider.current.value = String(seconds);
      slider.current.ariaValueText = strings.player.position(clock(seconds), clock(durationSeconds));
    };
    show(playback.seconds);
    return playback.onTime((seconds) => {
      show(seconds);
      const isOutside = seconds < view.from || seconds > view.to;
      if (isOutside && magnification > 1) setView(viewAround(seconds, durationSeconds, magnification));
    });
  }, [bars, view, playback, durationSeconds, magnification, theme, width]);

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
function useThemeChanges(): number {
  const [changes, setChanges] = useState(0);
  useEffect(() => {
    const change = () => setChanges((before) => before + 1);
    const system = matchMedia("(prefers-color-scheme: dark)");
    system.addEventListener("change", change);
    const chosen = new MutationObserver(change);
    chosen.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => {
      system.removeEventListener("change", change);
      chosen.disconnect();
    };
  }, []);
  return changes;
}

/** Opacity of bars that have not been played yet. */
const UNPLAYED_ALPHA = 0.42;

/** Draws the waveform as bars, in full colour up to the playback position. */
function drawWave(canvas: HTMLCanvasElement, bars: readonly Bar[], view: View, seconds: number): void {
  const { clientWidth: width, clientHeight: height } = canvas;
  const context = canvas.getContext("2d");
  if (context === null || width === 0) return;
  const scale = devicePixelRatio;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  const style = getComputedStyle(canvas);
  const colours = Array.from({ length: SPEAKER_COLOURS }, (_, index) =>
    style.getPropertyValue(`--speaker-${index}`).trim(),
  );
  const silence = style.getPropertyValue("--faint").trim();
  bars.forEach((bar, index) => {
    const size = Math.max(2, bar.height * (height - 4));
    context.globalAlpha = bar.seconds <= seconds ? 1 : UNPLAYED_ALPHA;
    context.fillStyle = bar.speaker < 0 ? silence : (colours[bar.speaker % SPEAKER_COLOURS] ?? silence);
    context.beginPath();
    context.roundRect(index * BAR_STEP, (height - size) / 2, BAR_STEP - 1, size, 1);
    context.fill();
  });
  const place = ((seconds - view.from) / (view.to - view.from)) * width;
  context.globalAlpha = 1;
  context.fillStyle = style.getPropertyValue("--ink").trim();
  context.fillRect(Math.round(Math.min(width - 2, Math.max(0, place - 1))), 0, 2, height);
}
