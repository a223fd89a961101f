import { Figure, Figures } from "../parts/index.ts";
import { strings } from "../strings.ts";

const texts = strings.recording;

/** Lists the keyboard shortcuts of useKeys. */
export function KeyList() {
  return (
    <details class="keyboard">
      <summary>{texts.keys}</summary>
      <Figures>
        {texts.keyList.map(([keys, meaning]) => (
          <Figure key={keys} name={meaning}>
            <kbd>{keys}</kbd>
          </Figure>
        ))}
      </Figures>
    </details>
  );
}
