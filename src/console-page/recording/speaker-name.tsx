import type { Speaker } from "../../console/contract.ts";
import { strings } from "../strings.ts";
import { speakerColour } from "./speaker-colour.ts";

/** Returns the name of a speaker: the given name, or `Speaker A`. */
export function nameOf({ name, speaker }: Speaker): string {
  return name ?? strings.speakers.letter(speaker);
}

/** Renders a speaker's name in their colour. */
export function SpeakerName({ speaker, index }: { speaker: Speaker; index: number }) {
  return (
    <bdi class="speaker" style={speakerColour(index)}>
      {nameOf(speaker)}
    </bdi>
  );
}
