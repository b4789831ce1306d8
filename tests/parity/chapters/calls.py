"""Agents that call tools: the events, errors, approvals, results that come later, answers with a shape."""

from __future__ import annotations

from typing import Any

from google.genai import types
from pydantic import BaseModel

from tests.parity.pieces import flow, shows
from tests.parity.scripted import calls, scripted
from tests.parity.side import Side


class Trip(BaseModel):
    """An answer with a shape."""

    city: str
    days: int


def weather(city: str, tool_context: Any) -> dict[str, Any]:
    """Tell the weather."""
    tool_context.state["last_city"] = city
    return {"temp": 21}


def five() -> int:
    """Give five."""
    return 5


def fails() -> None:
    """Fail."""
    raise ZeroDivisionError("no")


def pay(amount: int) -> dict[str, int]:
    """Pay."""
    return {"paid": amount}


def answer(call_id: str, tool: str, **response: Any) -> types.Content:
    """Return a user's message with the response to a call."""
    given = types.FunctionResponse(id=call_id, name=tool, response=response)
    return types.Content(role="user", parts=[types.Part(function_response=given)])


def confirmation(events: list[Any], confirmed: bool) -> types.Content:
    """Return the answer to the newest confirmation that was asked for."""
    asked = [one for event in events for one in event.get_function_calls() if one.name == "adk_request_confirmation"]
    return answer(asked[-1].id, "adk_request_confirmation", confirmed=confirmed)


async def a_tool_is_called(adk: Side) -> None:
    """The model calls, the response carries what the tool wrote to the state, and the model answers with it."""
    model = scripted(adk, calls("weather", "c1", city="Oslo"), "It is 21.")
    await adk.play(adk.Agent(name="bot", model=model, tools=[weather], output_key="answer"), "weather?")


async def a_tool_is_called_in_a_workflow(adk: Side) -> None:
    """As a node an agent calls tools on its own path and hands on its answer."""
    model = scripted(adk, ["let me see ", calls("five", "c1")], "five it is")
    await adk.play(flow(adk, adk.Agent(name="bot", model=model, tools=[five], output_key="o"), shows(adk)))


async def tools_are_called_side_by_side(adk: Side) -> None:
    """Several calls of one message are answered in one event, in the order of the calls."""
    model = scripted(adk, [calls("five", "c1"), calls("weather", "c2", city="Rome"), calls("five", "c3")], "done")
    await adk.play(adk.Agent(name="bot", model=model, tools=[weather, five]))


async def a_call_without_its_arguments(adk: Side) -> None:
    """A call that lacks an argument, and a call of a tool that isn't there, are told to the model as errors."""
    model = scripted(adk, calls("weather", "c1"), calls("wether", "c2", city="x"), "sorry", notes=False)
    talk = adk.talk(adk.Agent(name="bot", model=model, tools=[weather]))
    events = await _quietly(adk, talk, "hi")
    adk.note("responses", [sorted(one.response) for event in events for one in event.get_function_responses()])
    adk.note("said last", events[-1].content)


async def _quietly(adk: Side, talk: Any, message: Any) -> list[Any]:
    """Send something without writing down what comes, since both packages explain it in words of their own."""
    kept = list(adk.lines)
    events = await talk.turn(message)
    adk.lines[:] = kept
    return events  # type: ignore[no-any-return]  # of a talk


async def a_called_tool_fails(adk: Side) -> None:
    """An exception in a tool is an error event of the agent, and is raised; the next turn works."""
    model = scripted(adk, calls("fails", "c1"), "fine", notes=False)
    await adk.play(adk.Agent(name="bot", model=model, tools=[fails]), "go", "again")


async def a_called_tool_fails_beside_others(adk: Side) -> None:
    """What its siblings gave is told before the error."""
    model = scripted(adk, [calls("five", "c1"), calls("fails", "c2"), calls("five", "c3")], notes=False)
    await adk.play(adk.Agent(name="bot", model=model, tools=[five, fails]), "go")


async def a_call_is_approved(adk: Side) -> None:
    """A call that needs an approval is asked for, and made once it is given; the model sees only its result."""
    model = scripted(adk, calls("pay", "c1", amount=3), "Done.")
    talk = adk.talk(adk.Agent(name="bot", model=model, tools=[adk.FunctionTool(pay, require_confirmation=True)]))
    events = await _quietly(adk, talk, "pay")
    for event in events:
        adk.note(
            "asked",
            [event.author, sorted(one.name for one in event.get_function_calls()), bool(event.long_running_tool_ids)],
        )
        adk.note("skips", event.actions.skip_summarization)
    await talk.turn(confirmation(events, True))


async def a_call_is_rejected(adk: Side) -> None:
    """A rejected call isn't made, and the model is told so."""
    model = scripted(adk, calls("pay", "c1", amount=3), "Not then.", notes=False)
    talk = adk.talk(adk.Agent(name="bot", model=model, tools=[adk.FunctionTool(pay, require_confirmation=True)]))
    events = await _quietly(adk, talk, "pay")
    events = await _quietly(adk, talk, confirmation(events, False))
    adk.note("responses", [sorted(one.response) for event in events for one in event.get_function_responses()])
    adk.note("said last", events[-1].content)


async def a_result_comes_later(adk: Side) -> None:
    """A long-running call without a result ends the turn; the response from outside goes on with it."""

    def order(item: str) -> None:
        """Order."""

    model = scripted(adk, calls("order", "c1", item="tea"), "It is here.")
    agent = adk.Agent(name="bot", model=model, tools=[adk.LongRunningFunctionTool(order)])
    talk = await adk.play(agent, "order tea")
    await talk.turn(answer("c1", "order", status="arrived"))


async def a_result_comes_twice(adk: Side) -> None:
    """A long-running call with a first result goes on at once; the later one takes its place for the model."""

    def order(item: str) -> dict[str, str]:
        """Order."""
        return {"status": "pending"}

    model = scripted(adk, calls("order", "c1", item="tea"), "It will come.", "It is here.")
    agent = adk.Agent(name="bot", model=model, tools=[adk.LongRunningFunctionTool(order)])
    talk = await adk.play(agent, "order tea")
    await talk.turn(answer("c1", "order", status="arrived"))


async def an_answer_with_a_shape_beside_tools(adk: Side) -> None:
    """The model gives it by a call; the agent's last message is the JSON, and the state has the data."""
    model = scripted(adk, calls("five", "c1"), calls("set_model_response", "c2", city="Oslo", days=5), notes=False)
    agent = adk.Agent(name="bot", model=model, tools=[five], output_schema=Trip, output_key="trip")
    talk = adk.talk(agent)
    events = await _quietly(adk, talk, "plan")
    adk.note("calls", [one.name for event in events for one in event.get_function_calls()])
    adk.note("given", events[-2].actions.set_model_response)
    adk.note("said last", events[-1].content)


async def a_tool_has_the_last_word(adk: Side) -> None:
    """With `skip_summarization` the model isn't asked again."""

    def last(tool_context: Any) -> str:
        """Say something."""
        tool_context.actions.skip_summarization = True
        return "over"

    await adk.play(adk.Agent(name="bot", model=scripted(adk, calls("last", "c1")), tools=[last]))


async def callbacks_around_tools(adk: Side) -> None:
    """A result of before_tool stands for the tool's, after_tool changes any, and writes of both are told with it."""

    def before(tool: Any, args: dict[str, Any], tool_context: Any) -> Any:
        tool_context.state["before"] = tool.name
        return {"from": "before"} if args.get("city") == "Rome" else None

    def after(tool: Any, args: dict[str, Any], tool_context: Any, tool_response: Any) -> Any:
        return {**tool_response, "after": True}

    model = scripted(adk, calls("weather", "c1", city="Rome"), calls("weather", "c2", city="Oslo"), "done")
    agent = adk.Agent(name="bot", model=model, tools=[weather], before_tool_callback=before, after_tool_callback=after)
    await adk.play(agent)


async def callbacks_where_a_tool_fails(adk: Side) -> None:
    """What on_tool_error returns is the result that the model is told."""

    def saves(tool: Any, args: dict[str, Any], tool_context: Any, error: Exception) -> Any:
        return {"saved": str(error)}

    model = scripted(adk, calls("fails", "c1"), "fine")
    await adk.play(adk.Agent(name="bot", model=model, tools=[fails], on_tool_error_callback=saves))


async def callbacks_around_models(adk: Side) -> None:
    """A response of before_model stands for the model's; after_model changes what the model says."""
    asked: list[int] = []

    def before(callback_context: Any, llm_request: Any) -> Any:
        asked.append(1)
        callback_context.state["asked"] = len(asked)
        if len(asked) == 1:
            return adk.LlmResponse(content=types.Content(role="model", parts=[calls("five", "c1")]))
        return None

    def after(callback_context: Any, llm_response: Any) -> Any:
        text = llm_response.content.parts[0].text
        return adk.LlmResponse(content=types.Content(role="model", parts=[types.Part(text=text.upper())]))

    model = scripted(adk, "done")
    agent = adk.Agent(name="bot", model=model, tools=[five], before_model_callback=before, after_model_callback=after)
    await adk.play(agent)


async def a_callback_where_a_model_fails(adk: Side) -> None:
    """What on_model_error returns is what the model said."""

    def saves(callback_context: Any, llm_request: Any, error: Exception) -> Any:
        return adk.LlmResponse(content=types.Content(role="model", parts=[types.Part(text=f"saved: {error}")]))

    model = scripted(adk, ZeroDivisionError("down"), notes=False)
    await adk.play(adk.Agent(name="bot", model=model, on_model_error_callback=saves))


async def a_tool_asks_in_the_middle(adk: Side) -> None:
    """A tool that asks while it is called is called again with the answer."""

    def order(tool_context: Any) -> Any:
        """Order."""
        given = tool_context.tool_confirmation
        if given is None:
            tool_context.request_confirmation(hint="How many?", payload={"most": 5})
            return {"status": "asked"}
        return {"n": given.payload["n"]}

    model = scripted(adk, calls("order", "c1"), "ordered", "ordered again", notes=False)
    talk = adk.talk(adk.Agent(name="bot", model=model, tools=[order]))
    events = await _quietly(adk, talk, "order")
    adk.note("asks", [event.content.role for event in events if event.long_running_tool_ids])
    adk.note("says", [event.content for event in events if event.content.parts[0].text])
    asked = [one for event in events for one in event.get_function_calls() if one.name == "adk_request_confirmation"]
    await talk.turn(answer(asked[-1].id, "adk_request_confirmation", confirmed=True, payload={"n": 2}))


async def a_generator_is_called(adk: Side) -> None:
    """What a generator says before its result is seen; the model reads only the result."""

    def works() -> Any:
        """Work."""
        yield adk.Event(message="working")
        yield 5

    model = scripted(adk, calls("works", "c1"), "done")
    await adk.play(adk.Agent(name="bot", model=model, tools=[works]))


async def a_tool_runs_a_node(adk: Side) -> None:
    """A tool may run a node and gets what it hands on."""

    async def runs(tool_context: Any) -> Any:
        """Run."""

        def inner(node_input: str) -> str:
            return f"{node_input}!"

        return await tool_context.run_node(adk.FunctionNode(func=inner), "hey")

    model = scripted(adk, calls("runs", "c1"), "done", notes=False)
    await adk.play(adk.Agent(name="bot", model=model, tools=[runs]))


async def a_picture_is_a_part_of_the_response(adk: Side) -> None:
    """A picture in a tool's result goes beside the response, which holds the rest."""

    def draw() -> Any:
        """Draw."""
        picture = types.Part(inline_data=types.Blob(data=b"png", mime_type="image/png"))
        return {"note": "drawn", "picture": picture}

    talk = adk.talk(adk.Agent(name="bot", model=scripted(adk, calls("draw", "c1"), "done", notes=False), tools=[draw]))
    events = await talk.turn("draw")
    response = events[1].get_function_responses()[0]
    adk.note("response", response.response)
    adk.note("parts", [part.inline_data.data for part in response.parts or ()])


async def two_results_come_later(adk: Side) -> None:
    """Two calls of one message wait for their results; one of them comes in a message of its own, then the other."""

    def order(what: str) -> None:
        """Order something."""

    model = scripted(adk, [calls("order", "c1", what="tea"), calls("order", "c2", what="cake")], "one", "two")
    agent = adk.Agent(name="bot", model=model, tools=[adk.LongRunningFunctionTool(order)])
    talk = await adk.play(agent, "hungry")
    await talk.turn(answer("c1", "order", done="tea"))
    await talk.turn(answer("c2", "order", done="cake"))


async def a_model_numbers_its_calls_anew(adk: Side) -> None:
    """In each reply the model begins to count its calls again, so that two calls have one id."""

    def double(n: int) -> int:
        """Double a number."""
        return 2 * n

    model = scripted(adk, calls("double", "c1", n=1), calls("double", "c1", n=5), "done")
    await adk.play(adk.Agent(name="bot", model=model, tools=[double]))
