import type { ComponentChildren } from "preact";

interface MeterProps {
  readonly label: string;
  readonly value: number;
  readonly limit: number;
  /** The amount as text, shown next to the label. */
  readonly text: string;
}

/** Share of the limit from which the colour shows that it is nearly reached. */
const TIGHT_SHARE = 0.9;

/** Renders the used part of a limited resource. */
export function Meter({ label, value, limit, text }: MeterProps) {
  const share = limit > 0 ? Math.min(1, value / limit) : 0;
  return (
    <div class={share >= TIGHT_SHARE ? "meter tight" : "meter"}>
      <div class="legend">
        <span>{label}</span>
        <span class="amount">{text}</span>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: browsers draw <meter> each in its way, and it has no text of its own */}
      <div
        class="track"
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={limit}
        aria-valuenow={Math.min(value, limit)}
        aria-valuetext={text}
      >
        <Filling share={share} />
      </div>
    </div>
  );
}

/**
 * Renders a progress bar.
 * @param props.percent null: the progress cannot be measured
 */
export function ProgressBar({ label, percent }: { label: string; percent: number | null }) {
  return (
    <div
      class={percent === null ? "track moving" : "track"}
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent ?? undefined}
    >
      <Filling share={percent === null ? 1 : percent / 100} />
    </div>
  );
}

function Filling({ share }: { share: number }) {
  return <div class="filling" style={{ inlineSize: `${share * 100}%` }} />;
}

interface FigureProps {
  readonly name: ComponentChildren;
  readonly value: ComponentChildren;
  readonly isBad?: boolean;
}

/** Renders an entry of a `dl` of class `figures`. */
export function Figure({ name, value, isBad = false }: FigureProps) {
  return (
    <div class={isBad ? "bad" : undefined}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
