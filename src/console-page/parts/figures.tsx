import type { ComponentChildren } from "preact";

/** A list of things with a figure for each, as Figure has them. */
export function Figures({ children }: { children: ComponentChildren }) {
  return <dl class="figures">{children}</dl>;
}

interface FigureProps {
  readonly name: ComponentChildren;
  /** The figure. */
  readonly children: ComponentChildren;
  readonly isBad?: boolean;
}

export function Figure({ name, children, isBad = false }: FigureProps) {
  return (
    <div class={isBad ? "bad" : undefined}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
