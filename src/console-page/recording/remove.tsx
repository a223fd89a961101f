import { useState } from "preact/hooks";
import type { RecordingDetail } from "../../console/contract.ts";
import { announce } from "../announce.tsx";
import { Confirm } from "../parts/index.ts";
import { everything, goTo } from "../route.ts";
import { askResponse } from "../server.ts";
import { strings } from "../strings.ts";

const texts = strings.remove;

/**
 * Renders a button that deletes a recording after a confirmation.
 * @param props.name name of the recording
 */
export function Remove({ recording, name }: { recording: RecordingDetail; name: string }) {
  const [isAsking, setAsking] = useState(false);
  const remove = async () => {
    await askResponse(`recordings/${recording.id}`, { method: "DELETE" });
    announce(texts.done(name));
    goTo({ screen: "recordings", filter: everything });
  };
  return (
    <>
      <button type="button" class="quiet bad" onClick={() => setAsking(true)}>
        {texts.ask}
      </button>
      {isAsking && (
        <Confirm
          title={texts.title(name)}
          means={texts.means}
          action={texts.remove}
          onConfirm={remove}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}
