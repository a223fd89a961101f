import { ago, moment } from "../format.ts";

/** Renders a date and time, with the relative time as a tooltip. */
export function Moment({ at }: { at: string }) {
  return (
    <time dateTime={at} title={ago(at)}>
      {moment(at)}
    </time>
  );
}

/** Renders a relative time, with the date and time as a tooltip. */
export function Ago({ at }: { at: string }) {
  return (
    <time dateTime={at} title={moment(at)}>
      {ago(at)}
    </time>
  );
}
