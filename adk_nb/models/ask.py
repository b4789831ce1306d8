"""`ask_model`: the one road from an agent to a model, where calls are logged, recorded and replayed."""

from __future__ import annotations

import contextlib
import time
from collections.abc import AsyncGenerator

from adk_nb.models.base_llm import BaseLlm
from adk_nb.models.call_log import Caller, call_log
from adk_nb.models.llm_request import LlmRequest
from adk_nb.models.llm_response import LlmResponse
from adk_nb.models.tapes import current_tape


async def ask_model(
    model: BaseLlm, request: LlmRequest, *, stream: bool = False, caller: Caller | None = None
) -> AsyncGenerator[LlmResponse, None]:
    """Ask a model, and keep in this process's log what was asked and what came back.

    Args:
        model: Who is asked.
        request: What is asked.
        stream: Whether pieces with `partial=True` come before the whole answer.
        caller: Who asks; `None` for code outside of any run.
    """
    asking = caller or Caller(request.agent_name)
    call = call_log.begin(asking, model.model, request, stream=stream)
    tape = current_tape()
    if tape is None:
        spoken = model.generate_content_async(request, stream=stream)
    else:
        spoken = tape.ask(model, request, stream=stream, caller=asking)
        call.source = tape.source
    began = time.perf_counter()
    try:
        async with contextlib.aclosing(spoken) as responses:
            async for response in responses:
                if not response.partial:
                    call.heard(response)
                yield response
    except GeneratorExit as gone:
        if call.response is None:  # who asked turned away before the whole answer was there
            call.failed(gone)
        raise
    except BaseException as error:
        call.failed(error)
        raise
    finally:
        call.seconds = time.perf_counter() - began
