"""A support inbox to try things on: labelled tickets, and readers that answer for a model without any network."""

from adk_nb.examples.accuracy import Misrouted, RoutingAccuracy, routing_accuracy, wilson_interval
from adk_nb.examples.bug_report import draft_bug_report
from adk_nb.examples.offline import offline_model
from adk_nb.examples.orders import OrderDetails, order_details
from adk_nb.examples.reader import NaiveBayesReader
from adk_nb.examples.tickets import LabelledTicket, load_tickets

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
    "routing_accuracy",
    "wilson_interval",
]
