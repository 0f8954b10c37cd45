"""The context of a call on a device, and the order of its work with other streams."""

from __future__ import annotations

from .._base.cuda_streams import LEGACY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .context import Context


class Site:
    """A context on a device, and the streams that must wait for the work of the call.

    An array may belong to another stream than the context. The context's stream then waits for that stream. If the
    caller has not chosen the stream, the array's stream also waits for the call. The owner of the array can then use it
    as after its own work.
    """

    __slots__ = ("_later", "chosen", "context", "place", "stream")

    def __init__(self, context: Context, chosen: bool) -> None:
        self.context = context
        self.place = context._place
        self.stream = context._number
        self.chosen = chosen
        self._later: set[int] = set()

    def join(self, stream: int) -> None:
        """Orders the call between the earlier and the later work of a stream."""
        if stream != self.stream:
            self.context.wait(stream)
            self.precede(stream)

    def precede(self, stream: int) -> None:
        """Makes the later work of a stream wait for the call."""
        if stream != self.stream and not self.chosen:
            self._later.add(stream)

    def hand_over(self, stream: int) -> None:
        """As `precede`, for a new output, whose memory the stream's library may reuse."""
        if stream != self.stream:
            self._later.add(stream)

    def follow(self, context: Context | None) -> None:
        """The same as `join` for memory of the library.

        It is released in the order of the stream on which it was made.
        """
        if context is None or context is self.context:
            return
        # This thread has no number for the stream of another thread. The legacy stream is ordered with that stream.
        number = context._number if context._is_here else LEGACY
        if number != self.stream:
            self.context.wait(number)
            self._later.add(number)

    def finish(self, sync: bool) -> None:
        """Orders the later work of other streams after the call. Call it when the work has been enqueued."""
        self.context._note_work()
        for stream in self._later:
            self.context.signal(stream)
        if sync:
            self.context.sync()
