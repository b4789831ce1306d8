"""`LLMRegistry`: which class talks to the model of a given name."""

from __future__ import annotations

import asyncio
import importlib
import re
from typing import ClassVar

from adk_nb.errors import ConfigurationError
from adk_nb.models.base_llm import BaseLlm

GEMINI_NAMES = (r"gemini-.*", r"gemma-4.*", r"projects/.+", r"model-optimizer-.*")
"""Regular expressions of the names that `Gemini` serves."""

_PROVIDERS = (
    "anthropic|azure|azure_ai|bedrock|cerebras|cohere|databricks|deepseek|fireworks_ai|gemini|groq|hosted_vllm|"
    "huggingface|lm_studio|mistral|nvidia_nim|ollama|ollama_chat|openai|openrouter|perplexity|sambanova|together_ai|"
    "vertex_ai|watsonx|xai"
)
LITE_LLM_NAMES = (rf"({_PROVIDERS})/.+",)
"""Regular expressions of the names that `LiteLlm` serves: a provider, a slash and the model's own name."""

# Loaded by name when one of its models is asked for, so that the registry alone imports no client.
_BUILT_IN = (
    ("Gemini", "adk_nb.models.google_llm", GEMINI_NAMES),
    ("LiteLlm", "adk_nb.models.lite_llm", LITE_LLM_NAMES),
)


class LLMRegistry:
    """Finds the class for a model's name; your own class joins with `register`.

    Example:
        >>> LLMRegistry.resolve("gemini-2.5-flash").__name__
        'Gemini'
    """

    _registered: ClassVar[list[type[BaseLlm]]] = []
    _shared: ClassVar[dict[asyncio.AbstractEventLoop | None, dict[str, BaseLlm]]] = {}

    @classmethod
    def register(cls, llm_cls: type[BaseLlm]) -> None:
        """Add a class under the names it lists in `supported_models()`; a later class wins over an earlier one.

        Registering a class of the same module and name again, as a re-run cell does, replaces the old one.
        """
        identity = (llm_cls.__module__, llm_cls.__qualname__)
        cls._registered = [c for c in cls._registered if (c.__module__, c.__qualname__) != identity]
        cls._registered.insert(0, llm_cls)
        cls._shared.clear()

    @classmethod
    def resolve(cls, model: str) -> type[BaseLlm]:
        """Return the class for a name; `Class:name` chooses the class by its own name.

        Raises:
            ConfigurationError: no class knows the name.
        """
        forced, _, rest = model.partition(":")
        for candidate in cls._registered:
            if (rest and candidate.__name__ == forced) or _matches(candidate.supported_models(), model):
                return candidate
        for class_name, module, patterns in _BUILT_IN:
            if (rest and class_name == forced) or _matches(patterns, model):
                built_in: type[BaseLlm] = getattr(importlib.import_module(module), class_name)
                return built_in
        raise ConfigurationError(_unknown(model, cls._registered))

    @classmethod
    def known(cls, model: str | BaseLlm) -> type[BaseLlm] | None:
        """Return the class of a model given by object or name, `None` for a name that no class knows."""
        if isinstance(model, BaseLlm):
            return type(model)
        try:
            return cls.resolve(model)
        except ConfigurationError:
            return None

    @classmethod
    def new_llm(cls, model: str) -> BaseLlm:
        """Return a new object for a model's name.

        Raises:
            ConfigurationError: no class knows the name.
        """
        found = cls.resolve(model)
        forced, _, rest = model.partition(":")
        return found(model=rest if rest and forced == found.__name__ else model)

    @classmethod
    def shared_llm(cls, model: str) -> BaseLlm:
        """Return the one object that all agents with this model's name share on the running event loop.

        Raises:
            ConfigurationError: no class knows the name.
        """
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            loop = None
        for closed in [known for known in cls._shared if known is not None and known.is_closed()]:
            del cls._shared[closed]
        models = cls._shared.setdefault(loop, {})
        if model not in models:
            models[model] = cls.new_llm(model)
        return models[model]


def _matches(patterns: list[str] | tuple[str, ...], name: str) -> bool:
    return any(re.fullmatch(pattern, name) for pattern in patterns)


def _unknown(model: str, registered: list[type[BaseLlm]]) -> str:
    known = [f"{c.__name__} ({', '.join(c.supported_models()) or 'by Class:name only'})" for c in registered]
    known += [f"Gemini ({', '.join(GEMINI_NAMES)})", "LiteLlm (provider/model, with pip install 'adk-nb[litellm]')"]
    return (
        f"No class knows the model {model!r}; known are {'; '.join(known)}. Check the spelling, pass a BaseLlm object "
        f"as model=, or write a BaseLlm subclass for this provider and call LLMRegistry.register(it)."
    )
