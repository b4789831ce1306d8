"""What happened, as data: events, questions, records of node runs, state."""

from adk_nb.events.event import Event, NodeInfo
from adk_nb.events.event_actions import EventActions
from adk_nb.events.record import Attempt, NodeRun, Question, Status
from adk_nb.events.request_input import RequestInput

__all__ = ["Attempt", "Event", "EventActions", "NodeInfo", "NodeRun", "Question", "RequestInput", "Status"]
