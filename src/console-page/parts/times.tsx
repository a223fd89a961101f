import { ago, moment } from "../format.ts";

/** A moment, and how long ago it was where the pointer rests on it. */
export function Moment({ at }: { at: string }) {
  return (
    <time dateTime={at} title={ago(at)}>
      {moment(at)}
    </time>
  );
}

/** How long ago a moment was, and the moment where the pointer rests on it. */
export function Ago({ at }: { at: string }) {
  return (
    <time dateTime={at} title={moment(at)}>
      {ago(at)}
    </time>
  );
}
