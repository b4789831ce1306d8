"""A chat and a stored run in JupyterLab: what a person types, sees, decides, saves and finds again."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.conftest import OpenNotebook
from tests.browser.lab import Host, NotebookPage

SETUP = """
import asyncio
import adk_nb as adk
from google.genai import types
from adk_nb.agents import LlmAgent
from adk_nb.models import BaseLlm, LlmResponse
from adk_nb.testing import ScriptedModel, call
from adk_nb.tools import FunctionTool

def weather(city: str) -> dict:
    return {"city": city, "celsius": 21}
def pay(amount: int) -> str:
    return f"paid {amount}"
model = ScriptedModel({
    "desk": ["Hello <b>you</b>!\\nHow can I help?", call("weather", city="Oslo"), "It is 21 degrees in Oslo.",
             call("transfer_to_agent", agent_name="billing")],
    "billing": [call("pay", amount=5), "Paid five."],
})
billing = LlmAgent(name="billing", description="pays", model=model,
                   tools=[FunctionTool(pay, require_confirmation=True)])
desk = LlmAgent(name="desk", model=model, tools=[weather], sub_agents=[billing])
"""
SLOW = """
import asyncio
import adk_nb as adk
from google.genai import types
from adk_nb.agents import LlmAgent
from adk_nb.models import BaseLlm, LlmResponse
class Slow(BaseLlm):
    model: str = "slow"
    async def generate_content_async(self, llm_request, stream=False):
        for word in ("Once ", "upon ", "a time"):
            yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=word)]), partial=True)
        await asyncio.Event().wait()
slow = LlmAgent(name="teller", model=Slow())
"""
FLOW = """
import adk_nb as adk
from adk_nb.events import RequestInput
def draft(node_input: str):
    return f"draft of {node_input}"
def check(node_input):
    yield RequestInput(message="Send it?", interrupt_id="send")
def sent(node_input):
    return f"sent: {node_input}"
flow = adk.Workflow(name="mail", edges=[("START", draft, check, sent)])
"""


def say(nb: NotebookPage, text: str, cell: int) -> None:
    """Type into the message box, and press Enter."""
    box = nb.output(cell).get_by_role("textbox", name="Message")
    box.fill(text)
    expect(nb.output(cell).get_by_role("button", name="Send")).to_be_enabled()  # the turn before may not have ended yet
    box.press("Enter")


def test_a_person_chats(open_notebook: OpenNotebook, host: Host) -> None:
    """Enter sends, replies and calls appear, an approval is a click, the cursor stays, and what is saved is a page."""
    nb = open_notebook([SETUP, "talk = adk.chat(desk, sessions='memory')\ntalk"], host)
    nb.run_all()
    out = nb.output(1)
    expect(out.locator(".adknb-chat")).to_have_count(1)
    out.get_by_role("textbox", name="Message").click()
    say(nb, "hi", 1)
    nb.wait_text("How can I help?", cell=1)
    expect(out.locator(".adknb-run-pill")).to_have_text("ready")
    expect(out.get_by_role("textbox", name="Message")).to_be_focused()
    say(nb, "What's the weather in Oslo?", 1)
    nb.wait_text("It is 21 degrees", cell=1)
    call = out.locator("details.adknb-chat-call")
    expect(call).not_to_have_attribute("open", "")
    say(nb, "Please pay 5", 1)
    out.get_by_role("button", name="Approve").wait_for()
    nb.wait_text("desk handed over to billing", cell=1)
    expect(out.get_by_role("button", name="Send", exact=True)).to_be_disabled()
    for theme in ("dark", "light"):
        nb.theme(theme)
        nb.screenshot(f"chat-{theme}-{host.app}-{host.kernel}", cell=1)
    out.get_by_role("button", name="Approve").click()
    nb.wait_text("Paid five.", cell=1)
    nb.wait_text("approved", cell=1)
    assert out.locator("b", has_text="you").count() == 0
    for bundle in nb.bundles(1):
        assert "application/vnd.jupyter.widget-view+json" not in bundle["data"]
        assert "Paid five." in str(bundle["data"]["text/plain"])
    assert nb.run_code("print(len(talk.runs), talk.status, len(talk.events_frame()) > 6)").strip() == "3 completed True"
    nb.assert_clean()


def test_a_saved_chat_is_read(open_notebook: OpenNotebook) -> None:
    """A notebook that is opened again shows the conversation, folded calls included, without box and without kernel."""
    nb = open_notebook([SETUP, "talk = adk.chat(desk, sessions='memory')\nawait talk.send('hi')\nNone"])
    nb.run_all()
    nb.wait_text("How can I help?", cell=1)
    saved = nb.save()
    again = open_notebook(saved, trust=True, name="again.ipynb")
    again.restart_kernel()
    again.wait_text("How can I help?", cell=1)
    expect(again.output(1).locator(".adknb-chat-agent")).to_have_count(1)
    expect(again.output(1).get_by_role("textbox", name="Message")).to_be_hidden()
    again.screenshot("chat-saved", cell=1)
    again.assert_clean()


def test_a_reply_is_stopped(open_notebook: OpenNotebook) -> None:
    """While a reply streams in there is a Stop button; what was said until then stays, and the box is free again."""
    nb = open_notebook([SLOW, "talk = adk.chat(slow, sessions='memory')\ntalk"])
    nb.run_all()
    say(nb, "tell", 1)
    nb.wait_text("Once upon a time", cell=1)
    expect(nb.output(1).locator(".adknb-run-pill")).to_have_text("replying")
    nb.screenshot("chat-replying", cell=1)
    nb.click("Stop", cell=1)
    expect(nb.output(1).locator(".adknb-run-pill")).to_have_text("stopped")
    nb.wait_text("Once upon a time", cell=1)
    nb.assert_clean()


def test_a_run_is_opened_after_a_restart(open_notebook: OpenNotebook) -> None:
    """After a kernel restart `runs` finds the run, `open_run` shows its form, and an answer there ends it."""
    nb = open_notebook([FLOW, "run = await adk.run(flow, 'letter')", "adk.open_run(adk.runs().session[0], flow)"])
    nb.run_cell(0)
    nb.run_cell(1)
    nb.restart_kernel()
    nb.run_cell(0)
    nb.run_cell(2)
    nb.wait_text("waiting for you", cell=2)
    nb.wait_text("Send it?", cell=2)
    nb.screenshot("open-run", cell=2)
    nb.output(2).locator(".adknb-run-form textarea").fill("yes")
    nb.click("Send answer", cell=2)
    nb.wait_text("sent: yes", cell=2)
    assert nb.run_code("print(adk.runs().status.tolist())").strip() == "['completed']"
    nb.assert_clean()


def test_a_chat_goes_on_after_a_restart(open_notebook: OpenNotebook, host: Host) -> None:
    """The cell that opens a chat on its session shows what was said before, with the approval that is still open."""
    opened = f"talk = adk.chat(desk, session='{host.app}-{host.kernel}', sessions='talk.db')\nNone"
    nb = open_notebook([SETUP, opened], host)
    nb.run_all()
    for text, reply in (("hi", "How can I help?"), ("weather in Oslo?", "It is 21 degrees"), ("pay", "pay")):
        say(nb, text, 1)
        nb.wait_text(reply, cell=1)
    nb.wait_text("waiting for you", cell=1)
    nb.restart_kernel()
    nb.wait_text("kernel ", cell=1)
    nb.run_code(SETUP.replace('"billing": [call("pay", amount=5), ', '"billing": ['))
    nb.run_cell(1)
    nb.wait_text("waiting for you", cell=1)
    for said in ("How can I help?", "weather in Oslo?", "handed over to"):
        nb.wait_text(said, cell=1)
    nb.output(1).get_by_role("button", name="Approve").click()
    nb.wait_text("Paid five.", cell=1)
    nb.assert_clean()
