"""The place of a call on a device: a context, and the streams that its work is in order with."""

from __future__ import annotations

from ._streams import LEGACY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .context import Context


class Site:
    """A context on a device, and the streams that have to come after what the call does there.

    Arrays of streams of their own are ordered with the context's: it waits for them, and where the caller has not
    chosen the stream, they wait for it in turn, so that their owners may go on as if they had done the work.
    """

    __slots__ = ("_later", "chosen", "context", "place", "stream")

    def __init__(self, context: Context, chosen: bool) -> None:
        self.context = context
        self.place = context._place
        self.stream = context._number
        self.chosen = chosen
        self._later: set[int] = set()

    def join(self, stream: int) -> None:
        """Comes after what a stream has been given, and before what it will be given."""
        if stream != self.stream:
            self.context.wait(stream)
            self.precede(stream)

    def precede(self, stream: int) -> None:
        """What a stream is given after the call comes after the call's work."""
        if stream != self.stream and not self.chosen:
            self._later.add(stream)

    def follow(self, context: Context | None) -> None:
        """As `join`, for memory of the library: it is given back in the order of the stream that it was made on."""
        if context is None or context is self.context or not context._is_device:
            return
        # The stream of another thread has no name here, but the legacy stream is in order with it.
        number = context._number if context._is_here else LEGACY
        if number != self.stream:
            self.context.wait(number)
            self._later.add(number)

    def finish(self, sync: bool) -> None:
        """The work has been enqueued."""
        self.context._note_work()
        for stream in self._later:
            self.context.signal(stream)
        if sync:
            self.context.sync()
