"""Contents: which events an agent's model reads, and how it reads them."""

from __future__ import annotations

import pytest
from google.genai import types

from adk_nb.agents.reading.contents import Reader, contents_for
from adk_nb.agents.reading.quoting import PREAMBLE
from adk_nb.events import Event
from tests.agents.histories import ME, call, event, me, read, result, text, user


def test_own_calls_and_results_are_read_as_they_were() -> None:
    """A call is followed by its result, with the roles of the conversation."""
    said = read(user("hi"), me(call("look", "c1")), me(result("look", "c1", "A")), me("done"), user("more"))
    assert said == ["user: hi", "model: look#c1()", "user: look#c1=A", "model: done", "user: more"]


def test_parallel_results_merge_behind_their_calls() -> None:
    """Results of one message's calls become one message in the order of the calls."""
    both = me(call("a", "1"), call("b", "2"))
    said = read(user("hi"), both, me(result("b", "2", "B")), me(result("a", "1", "A")), me("ok"))
    assert said == ["user: hi", "model: a#1() | b#2()", "user: a#1=A | b#2=B", "model: ok"]


def test_a_late_result_moves_to_its_call_in_history() -> None:
    """What came later stands right behind its call once something else was said since."""
    said = read(
        user("hi"),
        me(call("a", "1"), long_running_tool_ids={"1"}),
        me(result("a", "1", "pending")),
        me("wait"),
        user(result("a", "1", "ready")),
        me("here it is"),
        user("thanks"),
    )
    assert said == ["user: hi", "model: a#1()", "user: a#1=ready", "model: wait", "model: here it is", "user: thanks"]


def test_the_newest_result_is_what_the_model_goes_on_from() -> None:
    """While a late result is the newest message, what was said between it and its call is left out."""
    said = read(
        user("hi"),
        me(call("a", "1"), long_running_tool_ids={"1"}),
        me(result("a", "1", "pending")),
        me("wait"),
        user("hm?"),
        me(call("b", "2")),
        me(result("b", "2", 2)),
        user(result("a", "1", "ready")),
    )
    assert said == ["user: hi", "model: a#1()", "user: a#1=ready"]


def test_orphans_are_left_out() -> None:
    """Calls without result and results without call aren't sent, except calls that wait for somebody."""
    said = read(
        user("hi"),
        me("so", call("a", "1"), call("b", "2")),
        me(result("b", "2", "B")),
        me(call("c", "3")),
        me(result("d", "4", "D")),
        me(call("e", "5"), long_running_tool_ids={"5"}),
        user("well?"),
    )
    assert said == ["user: hi", "model: so | b#2()", "user: b#2=B", "model: e#5()", "user: well?"]


def test_calls_without_ids_are_paired_by_name() -> None:
    """Histories without ids pair each result with the oldest open call of its name."""
    said = read(user("hi"), me(call("a"), call("a")), me(result("a", None, 1), result("a", None, 2)), me(call("a")))
    assert said == ["user: hi", "model: a#None() | a#None()", "user: a#None=1 | a#None=2"]


def test_media_beside_a_result_move_with_it() -> None:
    """What a tool gave beside its result stays with it."""
    picture = types.Part(inline_data=types.Blob(data=b"x", mime_type="image/png"))
    said = read(user("hi"), me(call("a", "1")), user("hm"), me(result("a", "1", 1), picture), user("and?"))
    assert said == ["user: hi", "model: a#1()", "user: a#1=1 | <image/png>", "user: hm", "user: and?"]


@pytest.mark.parametrize(("keeps", "shown"), [(False, "None"), (True, "adk-7")])
def test_made_up_ids_are_for_models_that_pair_by_them(keeps: bool, shown: str) -> None:
    """Ids that no model gave aren't sent, unless the model pairs by id; the events keep theirs."""
    events = [me(call("a", "adk-7")), me(result("a", "adk-7", 1)), me(call("b", "own")), me(result("b", "own", 2))]
    assert read(*events, keeps_ids=keeps) == [
        f"model: a#{shown}()",
        f"user: a#{shown}=1",
        "model: b#own()",
        "user: b#own=2",
    ]
    assert events[0].get_function_calls()[0].id == "adk-7"


def test_own_thoughts_and_signatures_go_back() -> None:
    """Thoughts in a message that says something are sent again, signatures byte for byte; thoughts alone aren't."""
    signature = b"\x00\xffsig"
    signed = types.Part(function_call=types.FunctionCall(id="1", name="a"), thought_signature=signature)
    events = [
        me(text("hm", thought=True), "yes"),
        me(text("only", thought=True)),
        me(text("", thought_signature=b"s")),
        me(signed),
        me(result("a", "1", 1)),
    ]
    assert read(*events) == ["model: (hm) | yes", "model: ", "model: a#1()", "user: a#1=1"]
    contents = contents_for(Reader(ME), events)
    assert [part.thought_signature for one in contents for part in one.parts or ()] == [
        None,
        None,
        b"s",
        signature,
        None,
    ]


def test_what_says_nothing_is_left_out() -> None:
    """Events without content, role or parts, empty texts and pieces of streams aren't messages."""
    nothing = [
        Event(author=ME, output=1),
        Event(author=ME, content=types.Content(parts=[text("no role")])),
        Event(author=ME, content=types.Content(role="model")),
        me(""),
        me("pie", partial=True),
    ]
    assert read(user("hi"), *nothing) == ["user: hi"]


def test_questions_to_people_are_not_for_models() -> None:
    """Confirmations, credentials and requests for input are left out with their answers, and nothing else."""
    names = ["adk_request_confirmation", "adk_request_credential", "adk_request_input"]
    asked = [
        one
        for number, name in enumerate(names)
        for one in (me(call(name, f"q{number}")), user(result(name, f"q{number}", "yes")))
    ]
    pay = [me(call("pay", "p")), *asked, me(result("pay", "p", "paid"))]
    assert read(user("pay"), *pay) == ["user: pay", "model: pay#p()", "user: pay#p=paid"]


def test_rewound_turns_are_gone() -> None:
    """What was taken back isn't read."""
    back = Event(author="user", invocation_id="e-3", actions={"rewind_before_invocation_id": "e-1"})
    said = read(user("one"), me("1"), back, user("two", invocation_id="e-4"), invocation_id="e-4")
    assert said == ["user: two"]


def test_other_agents_are_quoted() -> None:
    """What others did is told in user messages, one part an item, after one sentence that says that it is data."""
    other = event("bob", text("hm", thought=True), "hello", call("look", "c1", q="ä"))
    said = read(user("hi"), other, event("bob", result("look", "c1", "A")), event("bob", text("?", thought=True)))
    assert said == [
        "user: hi",
        f"user: {PREAMBLE} | [bob] said:/<<<said/hello/said>>> | "
        '[bob] called tool look with parameters:/<<<said/{"q": "ä"}/said>>>',
        'user: [bob] tool look returned result:/<<<said/{"result": "A"}/said>>>',
    ]


def test_thoughts_of_others_by_option() -> None:
    """Thoughts of others are quoted only when the call asks for them."""
    other = event("bob", text("hm", thought=True), "hello")
    assert "thought" not in read(other)[0]
    assert "[bob] thought:/<<<said/hm/said>>>" in read(other, hears_thoughts=True)[0]


def test_media_of_others_pass() -> None:
    """Pictures of others are sent as they are; code that they ran is quoted."""
    picture = types.Part(inline_data=types.Blob(data=b"x", mime_type="image/png"))
    code = types.Part(executable_code=types.ExecutableCode(code="1+1", language=types.Language.PYTHON))
    ran = types.Part(code_execution_result=types.CodeExecutionResult(output="2", outcome=types.Outcome.OUTCOME_OK))
    (said,) = read(event("bob", picture, code, ran))
    assert said.endswith("<image/png> | [bob] ran code:/<<<said/1+1/said>>> | [bob] code returned:/<<<said/2/said>>>")


def test_answers_to_others_calls_are_quoted_whoever_posted_them() -> None:
    """A result that a person posted for another agent's call is quoted with that agent's name."""
    said = read(event("bob", call("ask", "1")), user(result("ask", "1", "yes")), user("hi"))
    assert said[1] == 'user: [bob] tool ask returned result:/<<<said/{"result": "yes"}/said>>>'


def test_only_the_own_scope_is_read() -> None:
    """A scoped agent reads exactly its scope, an unscoped one only what has none."""
    events = [user("all"), me("deep", isolation_scope="s1"), me("other", isolation_scope="s2")]
    assert read(*events) == ["user: all"]
    assert read(*events, scope="s1") == ["model: deep"]
    assert read(*events, scope="s3") == []


@pytest.mark.parametrize(
    ("own", "seen"),
    [
        (None, ["trunk", "a", "a.b", "c"]),
        ("a", ["trunk", "a"]),
        ("a.b", ["trunk", "a", "a.b"]),
        ("c", ["trunk", "c"]),
        ("ab", ["trunk"]),
    ],
)
def test_only_the_own_lane_and_those_above_are_read(own: str | None, seen: list[str]) -> None:
    """Lanes beside and below aren't read, except that the trunk reads what came back to it."""
    events = [me("trunk"), *(me(lane, branch=lane) for lane in ("a", "a.b", "c"))]
    assert read(*events, branch=own) == [f"model: {one}" for one in seen]


def test_progress_of_tools_is_not_read_by_who_called_them() -> None:
    """What an agent that works as a tool says stays on its lane; the caller reads the result."""
    events = [
        user("hi"),
        me(call("helper", "c1")),
        event("helper", "working", branch="helper@c1"),
        event("deep", "deeper", branch="helper@c1.deep@adk-9"),
        event("lane", "fan-out", branch="lane@1"),
        me(result("helper", "c1", "done")),
    ]
    said = read(*events)
    assert said[:2] == ["user: hi", "model: helper#c1()"]
    assert not [line for line in said if "work" in line or "deep" in line]


def test_inputs_of_other_nodes_are_private() -> None:
    """A user event with a node's path is that node's input; results that were posted count for the caller's call."""
    events = [user("for a", path="wf@1/a@1"), user("for me", path="wf@1/me@1")]
    assert read(*events, path="wf@1/me@1") == ["user: for me"]
    posted = [me(call("task", "1"), path="me@1"), user(result("task", "1", 5), path="me@1")]
    assert read(*posted, path="me@2") == ["model: task#1()", "user: task#1=5"]


def test_the_input_stands_before_what_the_run_said() -> None:
    """History, input, then the run's own calls and results: the input is the last word of anybody else."""
    events = [
        user("hi"),
        event("wf", "prepared", path="wf@1/prepare@1"),
        me(call("a", "1"), path="wf@1/me@1"),
        me(result("a", "1", 1), path="wf@1/me@1"),
    ]
    said = read(*events, newest="task", path="wf@1/me@1")
    assert [said[0], *said[2:]] == ["user: hi", "user: task", "model: a#1()", "user: a#1=1"]
    assert read(*events, newest="task", path="wf@1/me@1", include="none") == [
        "user: task",
        "model: a#1()",
        "user: a#1=1",
    ]


def test_a_message_is_not_said_twice() -> None:
    """An input that says what was said right before, or what the person said to a root, isn't repeated."""
    assert read(user("hi"), newest="hi", path="wf@1/me@1") == ["user: hi"]
    assert read(user("hi"), event("bob", "draft"), newest="draft", path="wf@1/me@1") == ["user: hi", "user: draft"]
    later = [user("hi"), me("Which?", path="me@1"), user("this"), me(call("a", "1")), me(result("a", "1", 1))]
    assert read(*later, newest="hi") == ["user: hi", "model: Which?", "user: this", "model: a#1()", "user: a#1=1"]


def test_a_task_keeps_its_input_and_forgets_earlier_tasks() -> None:
    """A task agent that goes on reads input, question, answer; what an earlier task of the name said isn't its."""
    events = [
        user("old", isolation_scope="me@1", invocation_id="e-0"),
        me("done", isolation_scope="me@1", invocation_id="e-0", path="me@1"),
        me("Which?", isolation_scope="me@1", path="me@1"),
        user("this", isolation_scope="me@1"),
    ]
    assert read(*events, newest="book", scope="me@1", is_task=True) == ["user: book", "model: Which?", "user: this"]


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ([user("one"), me("1"), user("two")], ["user: two"]),
        (
            [user("one"), me("1"), user("two"), me(call("a", "1")), me(result("a", "1", 1))],
            ["user: two", "model: a#1()", "user: a#1=1"],
        ),
        (
            [
                user("one"),
                event("bob", call("transfer_to_agent", "t")),
                event("bob", result("transfer_to_agent", "t")),
            ],
            ["user: one", "user: [bob] called", "user: [bob] tool"],
        ),
        ([user("one"), event("bob", "mine"), me("2")], ["user: [bob] said", "model: 2"]),
        (
            [user("one"), me(call("a", "1"), long_running_tool_ids={"1"}), user(result("a", "1", 5))],
            ["user: one", "model: a#1()", "user: a#1=5"],
        ),
    ],
    ids=["words", "tools", "transfer", "others", "posted"],
)
def test_without_history_the_present_turn_is_read(events: list[Event], said: list[str]) -> None:
    """`none` begins with the last real word of a person or another agent: hand-overs and results begin no turn."""
    found = [line.replace(f"{PREAMBLE} | ", "") for line in read(*events, include="none")]
    assert len(found) == len(said)
    assert all(line.startswith(begin) for line, begin in zip(found, said, strict=True)), found


def test_what_was_said_beside_the_run_is_not_read() -> None:
    """Runs that weren't over when this one began aren't heard, nor what a run above says later."""
    events = [
        event("a", "first", path="wf@1/f@1/a@1"),
        event("b", "beside", path="wf@1/f@1/b@1"),
        event("wf", "above before", path="wf@1/f@1", timestamp=1.0),
        event("wf", "above after", path="wf@1/f@1", timestamp=3.0),
        event("b", "earlier turn", path="wf@1/f@1/b@1", invocation_id="e-0"),
    ]
    said = read(*events, path="wf@1/f@1/me@1", began=2.0, is_beside=lambda path: path == "wf@1/f@1/b@1")
    assert [line for line in said if "beside" in line or "after" in line] == []
    assert len(said) == 3


def test_a_called_agent_does_not_read_what_was_called_beside_it() -> None:
    """Of the message that called it, an agent that works as a tool is told its own call."""
    calls = event("boss", "Both!", call("me", "c1", x=1), call("peer", "c2", secret=2), path="boss@1")
    (said,) = read(calls, path="boss@1/me@1", branch="me@c1")
    assert "called tool me" in said
    assert "secret" not in said


CLOSED = "and is closed: take it up again only when asked to.]"


@pytest.mark.parametrize(
    ("ending", "what"),
    [
        ([Event(author=ME, invocation_id="e-0", error_code="ValueError", error_message="no")], "failed (ValueError)"),
        ([Event(author=ME, invocation_id="e-0", error_code="INVOCATION_ABORTED")], "was stopped"),
        ([me(call("b", "2"), invocation_id="e-0")], "broke off"),
    ],
    ids=["failed", "stopped", "killed"],
)
def test_a_turn_that_was_not_finished_is_closed(ending: list[Event], what: str) -> None:
    """What an earlier turn left open is left out, and one line behind it says that the turn is closed."""
    start = [user("long job", invocation_id="e-0"), me(call("a", "1"), invocation_id="e-0")]
    start.append(me(result("a", "1", 1), invocation_id="e-0"))
    told = ["user: long job", "model: a#1()", "user: a#1=1"]
    said = read(*start, *ending, user("capital?"))
    assert said == [*told, f"user: [The turn above {what} {CLOSED}", "user: capital?"]
    assert read(*start, *ending, user("capital?"), include="none") == ["user: capital?"]
    assert read(*start, *ending, user("go on"), me("done", invocation_id="e-0"), user("thanks"))[:3] == told


def test_a_failed_turn_that_was_finished_later_is_as_any_other() -> None:
    """Once the turn was gone on with to its end, nothing is said of its failure, nor of the present turn's."""
    failure = Event(author=ME, invocation_id="e-0", error_code="ValueError")
    said = read(user("job", invocation_id="e-0"), failure, me("done", invocation_id="e-0"), user("thanks"))
    assert said == ["user: job", "model: done", "user: thanks"]
    assert read(user("job"), Event(author=ME, invocation_id="e-1", error_code="ValueError")) == ["user: job"]


def test_a_turn_that_waits_for_somebody_is_not_closed() -> None:
    """A turn with an open question has neither failed nor broken off."""
    asks = me(call("adk_request_input", "q"), invocation_id="e-0", long_running_tool_ids={"q"})
    lines = read(me("so", call("ask", "1"), invocation_id="e-0"), asks, user("hi"))
    assert lines == ["model: so", "model: adk_request_input#q()", "user: hi"]
