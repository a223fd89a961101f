import { useState } from "preact/hooks";
import type { RecordingDetail } from "../../contract.ts";
import { announce } from "../announce.tsx";
import { Dialog } from "../parts/index.ts";
import { everything, goTo } from "../route.ts";
import { askResponse } from "../server.ts";
import { strings } from "../strings.ts";

const texts = strings.remove;

/** Deletes a recording, once that was asked twice. @param props.name what it is called */
export function Remove({ recording, name }: { recording: RecordingDetail; name: string }) {
  const [isAsking, setAsking] = useState(false);
  const [trouble, setTrouble] = useState<string | null>(null);
  const remove = async () => {
    try {
      await askResponse(`recordings/${recording.id}`, { method: "DELETE" });
      announce(texts.done(name));
      goTo({ screen: "recordings", filter: everything });
    } catch (error) {
      setTrouble(error instanceof Error ? error.message : String(error));
    }
  };
  const close = () => {
    setAsking(false);
    setTrouble(null);
  };
  return (
    <>
      <button type="button" class="quiet bad" onClick={() => setAsking(true)}>
        {texts.ask}
      </button>
      {isAsking && (
        <Dialog title={texts.title(name)} onClose={close}>
          <p>{texts.means}</p>
          <div role="alert">{trouble !== null && <p class="told">{trouble}</p>}</div>
          <div class="actions">
            <button type="button" onClick={close}>
              {strings.cancel}
            </button>
            <button type="button" class="main bad" onClick={() => void remove()}>
              {texts.remove}
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}
