"""`Switch`: a value that is in charge in a block, or in the whole process until further notice."""

from __future__ import annotations

from contextvars import ContextVar, Token
from typing import Generic, TypeVar

T = TypeVar("T")
_UNSET = object()


class Switch(Generic[T]):
    """What code that runs here shall use, `None` for nothing special.

    A block's value holds for what the block runs or starts; a value set everywhere holds where no block is.

    Args:
        name: What is switched, for debuggers.

    Example:
        >>> switch = Switch[str]("colour")
        >>> switch.everywhere = "red"
        >>> token = switch.enter("blue")
        >>> switch.current()
        'blue'
        >>> switch.leave(token)
        >>> switch.current()
        'red'
    """

    def __init__(self, name: str) -> None:
        self._in_block: ContextVar[object] = ContextVar(f"adk_nb_{name}", default=_UNSET)
        self.everywhere: T | None = None

    def current(self) -> T | None:
        """Return what is in charge here."""
        chosen = self._in_block.get()
        return self.everywhere if chosen is _UNSET else chosen  # type: ignore[return-value]  # only enter() sets it

    def enter(self, value: T | None) -> Token[object]:
        """Put a value in charge of a block; `None` in a block means nothing special."""
        return self._in_block.set(value)

    def leave(self, token: Token[object]) -> None:
        """End the block."""
        self._in_block.reset(token)


class Switched(Generic[T]):
    """A verb that turns a switch: a plain call holds in the whole process, `with` only in the block.

    Args:
        switch: What is turned.
        value: What is put in charge.
    """

    def __init__(self, switch: Switch[T], value: T | None) -> None:
        self._switch = switch
        self._value = value
        self._before = switch.everywhere
        self._tokens: list[Token[object]] = []
        switch.everywhere = value

    def _enter(self) -> None:
        if not self._tokens and self._switch.everywhere is self._value:
            self._switch.everywhere = self._before
        self._tokens.append(self._switch.enter(self._value))

    def __exit__(self, *_: object) -> None:
        self._switch.leave(self._tokens.pop())
