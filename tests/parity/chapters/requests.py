"""What models are asked: history, quotations, tools, instructions."""

from __future__ import annotations

from typing import Any

from google.genai import types

from tests.parity.asked import Asked, calls
from tests.parity.pieces import Ticket, answers, asks, flow, runs
from tests.parity.side import Side


def look(q: str) -> str:
    """Look something up."""
    return q.upper()


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def reads(adk: Side, name: str, asked: Asked) -> Any:
    """Return an agent that is told to read the conversation."""
    return adk.Agent(name=name, model=asked.model, include_contents="default")


async def a_model_reads_the_conversation(adk: Side) -> None:
    """A chat agent reads all turns, in their roles, and who it is."""
    asked = Asked(adk, "bot", "one", "two", words=("Be brief", "bot", "A bot that"))
    bot = adk.Agent(name="bot", description="A bot that helps.", model=asked.model, instruction="Be brief.")
    await adk.play(bot, "hi", "again")
    asked.tell()


async def a_model_reads_its_calls_and_their_results(adk: Side) -> None:
    """A call is followed by its result, now and in later turns."""
    asked = Asked(adk, "bot", calls("look", q="a"), "A", "more")
    await adk.play(adk.Agent(name="bot", model=asked.model, tools=[look]), "hi", "again")
    asked.tell()


async def a_model_reads_parallel_results_together(adk: Side) -> None:
    """Results of calls made together are one message, in the order of the calls."""
    asked = Asked(adk, "bot", [types.Part(text="both"), calls("look", q="a"), calls("add", a=1, b=2)], "done")
    await adk.play(adk.Agent(name="bot", model=asked.model, tools=[look, add]))
    asked.tell()


async def a_model_reads_its_thoughts(adk: Side) -> None:
    """Thoughts beside an answer are sent back as thoughts."""
    thought = types.Part(text="hm", thought=True)
    asked = Asked(adk, "bot", [thought, types.Part(text="yes")], "ok")
    await adk.play(adk.Agent(name="bot", model=asked.model), "hi", "again")
    asked.tell()


async def a_model_without_history(adk: Side) -> None:
    """Without contents a chat agent reads the present turn, its calls included."""
    asked = Asked(adk, "bot", "one", calls("look", q="a"), "two")
    await adk.play(adk.Agent(name="bot", model=asked.model, tools=[look], include_contents="none"), "hi", "again")
    asked.tell()


async def a_model_after_a_rewind(adk: Side) -> None:
    """Turns that were taken back aren't read."""
    asked = Asked(adk, "bot", "one", "two", "three")
    talk = await adk.play(adk.Agent(name="bot", model=asked.model), "hi", "forget this")
    await talk.runner.rewind_async(**talk.where, rewind_before_invocation_id=talk.invocation_ids[-1])
    await talk.turn("again")
    asked.tell()


async def a_model_after_few_loaded_events(adk: Side) -> None:
    """With few events loaded, a model reads those."""
    asked = Asked(adk, "bot", "one", "two", "three")
    talk = await adk.play(adk.Agent(name="bot", model=asked.model), "hi", "more")
    few = adk.RunConfig(get_session_config=adk.GetSessionConfig(num_recent_events=1))
    await talk.turn("again", run_config=few)
    asked.tell()


async def a_model_after_a_failed_turn(adk: Side) -> None:
    """After a turn that failed, the next one is asked with whole pairs."""
    asked = Asked(adk, "bot", calls("look", q="a"), ValueError("boom"), "Paris")
    await adk.play(adk.Agent(name="bot", model=asked.model, tools=[look]), "a long job", "capital of France?")
    asked.tell()


async def a_model_after_a_failed_tool(adk: Side) -> None:
    """A call whose tool failed has no result, and isn't sent in later turns."""

    def breaks() -> str:
        """Break."""
        raise ValueError("no")

    asked = Asked(adk, "bot", [types.Part(text="I try"), calls("breaks")], "fine")
    await adk.play(adk.Agent(name="bot", model=asked.model, tools=[breaks]), "hi", "again")
    asked.tell()


async def an_instruction_is_filled(adk: Side) -> None:
    """An instruction is filled from the state of all scopes."""
    asked = Asked(adk, "bot", "ok", words=("k=v", "user=ada", "none=.", "{not a key}"))
    bot = adk.Agent(name="bot", model=asked.model, instruction="k={k} user={user:name} none={gone?}. {not a key}")
    await adk.play(bot, state={"k": "v", "user:name": "ada"})
    asked.tell()


async def an_instruction_lacks_a_key(adk: Side) -> None:
    """A missing key fails the run, by its name, before the model is asked."""
    asked = Asked(adk, "bot", "never")
    adk.listen("gone")
    await adk.play(adk.Agent(name="bot", model=asked.model, instruction="Say {gone}."))
    adk.note("asked", len(asked.requests))


async def an_instruction_is_a_function(adk: Side) -> None:
    """What a function returns isn't filled."""

    async def instruction(context: Any) -> str:
        return f"For {context.state['k']} and {{k}} by {context.agent_name}"

    asked = Asked(adk, "bot", "ok", words=("For v and {k} by bot",))
    await adk.play(adk.Agent(name="bot", model=asked.model, instruction=instruction), state={"k": "v"})
    asked.tell()


async def places_of_a_template(adk: Side) -> None:
    """Each form of braces gives the same text on both."""
    forms = ["{k}", "{ k }", "{{k}}", "{{{k}}}", "{none}", "{foo:bar}", "{d.k}", "{d[k]}", "{}", "{k!}", "{k ?}", "{k"]
    forms += ['{"a": 1}', "${k}", "\\{k}", "{app:a}", "{temp:t?}", "{nested}", "{ k?}", "{user:gone?}"]
    given: dict[str, Any] = {"k": "v", "none": None, "app:a": "A", "nested": "{k}"}
    for form in forms:
        asked = Asked(adk, "bot", "ok")
        seen: list[str] = []

        async def spy(callback_context: Any, llm_request: Any, seen: list[str] = seen) -> None:
            seen.append(str(llm_request.config.system_instruction).split("<")[1].split(">")[0])

        bot = adk.Agent(name="bot", model=asked.model, instruction=f"<{form}>", before_model_callback=spy)
        await adk.talk(bot, state=given, session_id=f"s{len(form)}").turn("hi")
        adk.note(form, seen)


async def order_of_the_system_text(adk: Side) -> None:
    """The tree's instruction, the agent's own, who it is."""
    asked = Asked(adk, "bot", "ok", words=("For all", "Own words", '"bot"', "A description"))
    bot = adk.Agent(
        name="bot",
        description="A description",
        model=asked.model,
        instruction="Own words",
        global_instruction="For all",
    )
    await adk.play(bot)
    asked.tell()


async def a_static_instruction(adk: Side) -> None:
    """A static instruction isn't filled; the changing one is a message before what is to be answered."""
    asked = Asked(adk, "bot", "one", calls("look", q="a"), "two", words=("Always {k}", "Now", '"bot"'))
    bot = adk.Agent(name="bot", model=asked.model, static_instruction="Always {k}", instruction="Now {k}", tools=[look])
    await adk.play(bot, "hi", "again", state={"k": "v"})
    asked.tell()


async def context_of_one_call(adk: Side) -> None:
    """Messages given with a call stand before what is to be answered, and aren't stored."""
    asked = Asked(adk, "bot", "one", calls("look", q="a"), "two")
    given = [types.Content(role="user", parts=[types.Part(text="Monday")])]
    talk = adk.talk(adk.Agent(name="bot", model=asked.model, tools=[look]))
    for text in ("hi", "again"):
        await talk.turn(text, run_config=adk.RunConfig(model_input_context=given))
    asked.tell()


async def a_shape_for_the_answer(adk: Side) -> None:
    """With an output schema the request asks for JSON."""
    asked = Asked(adk, "bot", '{"title": "x"}')
    await adk.play(adk.Agent(name="bot", model=asked.model, output_schema=Ticket))
    asked.tell()


async def an_agent_with_history_in_a_chain(adk: Side) -> None:
    """An agent told to read the conversation reads it with others quoted, and its own input last."""
    one, two = Asked(adk, "one", "draft"), Asked(adk, "two", "better")
    three = Asked(adk, "three", "final")
    agents = [adk.Agent(name="one", model=one.model)]
    agents += [
        adk.Agent(name=name, model=asked.model, include_contents="default")
        for name, asked in (("two", two), ("three", three))
    ]
    await adk.play(flow(adk, *agents), "rivers")
    for asked in (one, two, three):
        asked.tell()


async def the_first_agent_with_history(adk: Side) -> None:
    """An agent with history right after START."""
    asked = Asked(adk, "bot", "ok")
    await adk.play(flow(adk, adk.Agent(name="bot", model=asked.model, include_contents="default")), "hi")
    asked.tell()


async def an_agent_with_history_after_a_question(adk: Side) -> None:
    """Questions to people, and their answers, are not for models."""
    asked = Asked(adk, "bot", "ok")
    bot = adk.Agent(name="bot", model=asked.model, include_contents="default")
    await adk.play(flow(adk, asks(adk, "q", message="how many?"), bot), "hi", answers(q="five"))
    asked.tell()


async def agents_with_history_in_lanes(adk: Side) -> None:
    """Agents in lanes don't read each other."""
    one, two = Asked(adk, "one", "A"), Asked(adk, "two", "B")
    lanes = (reads(adk, "one", one), reads(adk, "two", two))
    await adk.play(flow(adk, lanes, adk.JoinNode(name="j")), "topic")
    one.tell()
    two.tell()


async def an_agent_with_tools_in_a_chain(adk: Side) -> None:
    """An agent in a workflow reads its input, then its own calls and results; the next one only the output."""
    one, two = Asked(adk, "one", calls("look", q="a"), "found A"), Asked(adk, "two", "end")
    await adk.play(
        flow(adk, adk.Agent(name="one", model=one.model, tools=[look]), adk.Agent(name="two", model=two.model)), "go"
    )
    for asked in (one, two):
        asked.tell()


async def another_agents_calls_are_quoted(adk: Side) -> None:
    """An agent with history reads another's calls and results as quotations."""
    one, two = Asked(adk, "one", [types.Part(text="I look"), calls("look", q="a")], "found A"), Asked(adk, "two", "end")
    last = adk.Agent(name="two", model=two.model, include_contents="default")
    await adk.play(flow(adk, adk.Agent(name="one", model=one.model, tools=[look]), last), "go")
    two.tell()


async def thoughts_of_others(adk: Side) -> None:
    """Thoughts of others are read only when the call says so."""
    for with_thoughts in (False, True):
        one = Asked(adk, "one", [types.Part(text="hm", thought=True), types.Part(text="A")])
        two = Asked(adk, "two", "end")
        last = adk.Agent(name="two", model=two.model, include_contents="default")

        def note(node_input: Any) -> str:
            return "note"

        root = flow(adk, adk.Agent(name="one", model=one.model), adk.node(note), last)
        talk = adk.talk(root, session_id=str(with_thoughts))
        await talk.turn("go", run_config=adk.RunConfig(include_thoughts_from_other_agents=with_thoughts))
        two.tell()


async def a_hand_over_is_read_by_the_other(adk: Side) -> None:
    """The agent that takes over reads the conversation with what the first did quoted, and its own words as its own."""
    root = Asked(adk, "root", calls("transfer_to_agent", agent_name="helper"))
    helper = Asked(adk, "helper", "I help", "and again")
    below = adk.Agent(name="helper", description="Helps.", model=helper.model)
    await adk.play(adk.Agent(name="root", model=root.model, sub_agents=[below]), "hi", "more")
    root.tell()
    helper.tell()


async def what_a_transfer_is_told(adk: Side) -> None:
    """The agents to hand over to are told with name and description, after who the agent is."""
    asked = Asked(adk, "root", "ok", words=('"root"', "billing", "About bills", "tech", "About tech"))
    below = [
        adk.Agent(name=name, description=f"About {what}", model="gemini-2.5-flash")
        for name, what in (("billing", "bills"), ("tech", "tech"))
    ]
    await adk.play(adk.Agent(name="root", model=asked.model, sub_agents=below, tools=[look]))
    asked.tell()


async def an_agent_as_a_child_reads_its_input(adk: Side) -> None:
    """An agent run from code reads its input alone; with history also what was said before."""
    one, two = Asked(adk, "one", "A"), Asked(adk, "two", "B")
    first = adk.Agent(name="one", model=one.model, mode="single_turn")
    second = adk.Agent(name="two", model=two.model, mode="single_turn", include_contents="default")

    async def parent(ctx: Any) -> Any:
        await ctx.run_node(first, "first task")
        return await ctx.run_node(second, "second task")

    await adk.play(flow(adk, runs(adk, parent)), "go")
    for asked in (one, two):
        asked.tell()


async def a_plan_in_words(adk: Side) -> None:
    """A planner's tags tell thoughts from the answer; the model reads its plan again as text."""
    asked = Asked(adk, "bot", "/*PLANNING*/do /*FINAL_ANSWER*/yes", "/*FINAL_ANSWER*/again")
    await adk.play(adk.Agent(name="bot", model=asked.model, planner=adk.PlanReActPlanner()), "hi", "again")
    asked.tell()
