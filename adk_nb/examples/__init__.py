"""Data and offline models to try things on: a support inbox, a travel agency, a refund desk; none needs a network."""

from adk_nb.examples.accuracy import Misrouted, RoutingAccuracy, routing_accuracy, wilson_interval
from adk_nb.examples.bug_report import draft_bug_report
from adk_nb.examples.offline import offline_model
from adk_nb.examples.orders import OrderDetails, order_details
from adk_nb.examples.reader import NaiveBayesReader
from adk_nb.examples.refund import refund_model
from adk_nb.examples.refund_race import race_model, refund_cases, refund_graph, refund_loop
from adk_nb.examples.tickets import LabelledTicket, load_tickets
from adk_nb.examples.travel import travel_model

__all__ = [
    "LabelledTicket",
    "Misrouted",
    "NaiveBayesReader",
    "OrderDetails",
    "RoutingAccuracy",
    "draft_bug_report",
    "load_tickets",
    "offline_model",
    "order_details",
    "race_model",
    "refund_cases",
    "refund_graph",
    "refund_loop",
    "refund_model",
    "routing_accuracy",
    "travel_model",
    "wilson_interval",
]
