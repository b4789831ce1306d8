"""`use_model`: let every agent ask one model, inside a block or until further notice."""

from __future__ import annotations

from adk_nb.errors import ConfigurationError
from adk_nb.models.base_llm import BaseLlm
from adk_nb.models.registry import LLMRegistry
from adk_nb.models.switch import Switch, Switched

_switch: Switch[BaseLlm] = Switch("model")


class use_model(Switched[BaseLlm]):  # a verb: a call, or `with use_model(...)`
    """Let every agent ask `model`, whatever model it names itself.

    Called plainly it holds in the whole process until `use_model(None)`. In a `with` block it holds only for what the
    block runs or starts, so concurrent tasks don't disturb each other; `use_model(None)` in a block gives the agents
    their own models back.

    Args:
        model: A `BaseLlm`, a model's name, or `None`.

    Example:
        >>> from adk_nb.testing import ScriptedModel
        >>> with use_model(ScriptedModel(["hello"])):
        ...     current_model().model
        'scripted'
        >>> current_model() is None
        True
    """

    def __init__(self, model: BaseLlm | str | None) -> None:
        self.model = as_model(model)
        super().__init__(_switch, self.model)

    def __enter__(self) -> BaseLlm | None:
        self._enter()
        return self.model


def current_model() -> BaseLlm | None:
    """Return the model that `use_model` put in charge here, `None` when agents ask their own."""
    return _switch.current()


def as_model(model: BaseLlm | str | None) -> BaseLlm | None:
    """Return a model given by object or by name, `None` for `None` and `""`.

    Raises:
        ConfigurationError: `model` is neither, or no class knows the name.
    """
    if model is None or isinstance(model, BaseLlm):
        return model
    if isinstance(model, str):
        return LLMRegistry.shared_llm(model) if model else None
    raise ConfigurationError(
        f"model={model!r} is a {type(model).__name__}; allowed are a model's name, a BaseLlm object or None."
    )
