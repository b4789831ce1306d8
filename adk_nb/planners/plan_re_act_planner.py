"""`PlanReActPlanner`: a plan in words, then steps and reasons, then the answer, for models that don't think unasked.

The model marks what it says with tags. What stands behind a planning tag becomes a thought, so that it is neither shown
as the answer nor handed on; the tag of the final answer is taken away.
"""

from __future__ import annotations

from google.genai import types

from adk_nb.models.llm_request import LlmRequest
from adk_nb.planners.base_planner import BasePlanner
from adk_nb.workflow.context import Context, ReadonlyContext

PLANNING, REPLANNING, REASONING = "/*PLANNING*/", "/*REPLANNING*/", "/*REASONING*/"
ACTION, FINAL_ANSWER = "/*ACTION*/", "/*FINAL_ANSWER*/"
_THOUGHTS = (PLANNING, REPLANNING, REASONING, ACTION)

_INSTRUCTION = f"""\
Work in this order, and put each kind of text behind its tag:
1. {PLANNING} a numbered plan of the steps that lead to the answer. It covers the whole request, and each step can be
   done with the tools that you have, or needs none.
2. {ACTION} the calls of tools that the next step needs. Look things up with tools rather than from memory, and call
   only tools that you were given, with arguments that their declarations allow.
3. {REASONING} what the results mean, and what the next step is. Repeat 2 and 3 until the plan is done.
4. {FINAL_ANSWER} the answer, complete and in the form that was asked for.
When results show that the plan doesn't work, write a new one behind {REPLANNING} and go on with it. Don't make up
results: stop after the calls and wait for them. When something essential is missing that only the user knows, ask for
it behind {FINAL_ANSWER}."""


class PlanReActPlanner(BasePlanner):
    """Lets the model write a plan, act by calling tools, reason about the results, and then answer.

    Example:
        >>> planner = PlanReActPlanner()
        >>> said = [types.Part(text="/*REASONING*/ It is 3. /*FINAL_ANSWER*/ Three.")]
        >>> [(part.text, part.thought) for part in planner.process_planning_response(None, said)]
        [(' It is 3. ', True), (' Three.', None)]
    """

    def build_planning_instruction(self, readonly_context: ReadonlyContext, llm_request: LlmRequest) -> str:
        """Return how to plan, act, reason and answer."""
        return _INSTRUCTION

    def process_planning_response(
        self, callback_context: Context, response_parts: list[types.Part]
    ) -> list[types.Part] | None:
        """Return what was said with plans and reasons as thoughts.

        What follows the first calls is left out: the model can only have made up what they give.
        """
        said: list[types.Part] = []
        has_called = False
        for part in response_parts:
            if part.function_call is not None:
                if part.function_call.name:
                    said.append(part)
                    has_called = True
            elif has_called:
                break
            else:
                said += _told_apart(part)
        return said or None


def _told_apart(part: types.Part) -> list[types.Part]:
    if part.text is None or part.thought:
        return [part]
    before, tag, answer = part.text.rpartition(FINAL_ANSWER)
    if not tag:
        is_thought = part.text.startswith(_THOUGHTS)
        return [part.model_copy(update={"text": _without_tag(part.text), "thought": True})] if is_thought else [part]
    thought = types.Part(text=_without_tag(before), thought=True)
    said = part.model_copy(update={"text": answer})
    return [one for one in (thought, said) if one.text or one.thought_signature]


def _without_tag(text: str) -> str:
    return next((text.removeprefix(tag) for tag in _THOUGHTS if text.startswith(tag)), text)
