import type { Speaker } from "../../console/contract.ts";
import { strings } from "../strings.ts";
import { speakerColour } from "./speaker-colour.ts";

/** What a speaker is called: their own name, else `Speaker A`. */
export function nameOf({ name, speaker }: Speaker): string {
  return name ?? strings.speakers.letter(speaker);
}

/** A speaker's name in their colour. */
export function SpeakerName({ speaker, index }: { speaker: Speaker; index: number }) {
  return (
    <bdi class="speaker" style={speakerColour(index)}>
      {nameOf(speaker)}
    </bdi>
  );
}
