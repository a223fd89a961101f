import { speakerColours } from "../speaker-colour.ts";
import type { Bar, View } from "./wave-bars.ts";

interface Drawing {
  readonly bars: readonly Bar[];
  readonly view: View;
  /** Playback position. */
  readonly seconds: number;
  /** Distance between the left edges of two bars, in pixels. */
  readonly barStep: number;
}

/** Opacity of bars that have not been played yet. */
const aheadAlpha = 0.42;

/** Draws the waveform as bars, in full colour up to the playback position. */
export function drawWave(canvas: HTMLCanvasElement, { bars, view, seconds, barStep }: Drawing): void {
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
  const colours = Array.from({ length: speakerColours }, (_, index) =>
    style.getPropertyValue(`--speaker-${index}`).trim(),
  );
  const silence = style.getPropertyValue("--faint").trim();
  bars.forEach((bar, index) => {
    const size = Math.max(2, bar.height * (height - 4));
    context.globalAlpha = bar.seconds <= seconds ? 1 : aheadAlpha;
    context.fillStyle = bar.speaker < 0 ? silence : (colours[bar.speaker % speakerColours] ?? silence);
    context.beginPath();
    context.roundRect(index * barStep, (height - size) / 2, barStep - 1, size, 1);
    context.fill();
  });
  const place = ((seconds - view.from) / (view.to - view.from)) * width;
  context.globalAlpha = 1;
  context.fillStyle = style.getPropertyValue("--ink").trim();
  context.fillRect(Math.round(Math.min(width - 2, Math.max(0, place - 1))), 0, 2, height);
}
