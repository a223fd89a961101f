"""The end of a call before its result: the caller's event, or a time limit."""

import threading
import time
from typing import Optional

from .errors import CancelledError


class Stop:
    """Ends a call when an event is set, or after some seconds."""

    def __init__(
        self, cancel: Optional[threading.Event] = None, timeout: Optional[float] = None
    ) -> None:
        self._cancel = cancel
        self._ends_at = None if timeout is None else time.monotonic() + timeout

    def check(self) -> None:
        """Raises CancelledError or TimeoutError when the call must end."""
        if self._cancel is not None and self._cancel.is_set():
            raise CancelledError("cancelled by the caller")
        if self.remaining() <= 0:
            raise TimeoutError("the call took longer than its timeout")

    def remaining(self) -> float:
        """Returns the seconds that are left."""
        return float("inf") if self._ends_at is None else self._ends_at - time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Waits, but not longer than the call may last."""
        pause = max(0.0, min(seconds, self.remaining()))
        if self._cancel is None:
            time.sleep(pause)
        else:
            self._cancel.wait(pause)
        self.check()


NO_STOP = Stop()
