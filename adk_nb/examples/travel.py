"""A travel agency to try teams of agents on: an offline model that plans, books and asks, and its tools' data."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from google.genai import types

from adk_nb.errors import ConfigurationError
from adk_nb.models import BaseLlm, LlmRequest
from adk_nb.testing import FunctionModel, call

CITIES: dict[str, tuple[float, float, str]] = {
    "Oslo": (59.91, 10.75, "snow, -2 °C"),
    "Lisbon": (38.72, -9.14, "sunny, 19 °C"),
    "Berlin": (52.52, 13.40, "cloudy, 7 °C"),
    "Rome": (41.90, 12.50, "rain, 13 °C"),
}
"""Latitude, longitude and weather of the cities that the agency knows."""

FLIGHTS: list[dict[str, Any]] = [
    {"flight": "AB 101", "origin": "Berlin", "destination": "Oslo", "departs": "08:15", "price": 129},
    {"flight": "AB 205", "origin": "Berlin", "destination": "Lisbon", "departs": "07:05", "price": 178},
    {"flight": "CD 330", "origin": "Berlin", "destination": "Lisbon", "departs": "13:40", "price": 149},
    {"flight": "CD 412", "origin": "Oslo", "destination": "Rome", "departs": "10:20", "price": 205},
]
"""What flies each day. The airlines are invented."""

_DATE = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
_ROUTE = re.compile(r"\bfrom (\w+) to (\w+)\b", re.IGNORECASE)


def travel_model() -> BaseLlm:
    """Return a model that plays a travel agency's agents by plain rules, without a network.

    It knows three agents by name. `travel_planner` sends each city that a person asks the weather of to
    `weather_checker` and a flight "from X to Y" to `flight_booker`, and sums up what comes back. `weather_checker`
    calls `geocode_address`, then `get_weather`. `flight_booker` asks for the day where none was given, calls
    `search_flights` and `book_flight` (the cheapest), and ends with `finish_task`.

    Raises:
        ConfigurationError: when asked by an agent with another name.

    Example:
        >>> travel_model().model
        'offline-travel'
    """
    return FunctionModel(_reply, model="offline-travel")


def _reply(request: LlmRequest) -> Any:
    if request.agent_name == "travel_planner":
        return _plan(request)
    if request.agent_name == "weather_checker":
        return _check_weather(request)
    if request.agent_name == "flight_booker":
        return _book(request)
    raise ConfigurationError(
        f"The offline travel model was asked by agent {request.agent_name!r}; it can only play 'travel_planner', "
        f"'weather_checker' and 'flight_booker'. Name the agent so, or give it another model."
    )


def _plan(request: LlmRequest) -> Any:
    results = list(_results(request))
    if results:
        return " ".join(_in_words(name, result) for name, result in results)
    wish = request.last_user_text
    calls: list[types.Part] = []
    for sentence in re.split(r"[.?!]", wish):
        if "weather" in sentence.lower():
            calls += [call("weather_checker", request=city) for city in CITIES if city in sentence]
    route = _ROUTE.search(wish)
    if route is not None:
        day = _DATE.search(wish)
        given = {"date": day.group()} if day else {}
        calls.append(call("flight_booker", origin=route.group(1), destination=route.group(2), **given))
    return calls or "I look up the weather of a city and book flights, for instance from Berlin to Oslo."


def _in_words(name: str, result: dict[str, Any]) -> str:
    if "error" in result:
        return f"{name} could not do it: {result['error']}"
    if name == "flight_booker":
        return f"Booked {result['flight']} on {result['date']} for {result['price']} euros, code {result['code']}."
    return str(result.get("result", ""))


def _check_weather(request: LlmRequest) -> Any:
    city = request.contents[0].parts[0].text if request.contents and request.contents[0].parts else ""
    known = dict(_results(request))
    if "get_weather" in known:
        return f"{city}: {known['get_weather'].get('result')}."
    if "geocode_address" in known:
        place = known["geocode_address"]
        return call("get_weather", latitude=place["latitude"], longitude=place["longitude"])
    return call("geocode_address", address=city)


def _book(request: LlmRequest) -> Any:
    wish = json.loads(_texts(request.contents)[0])
    days = [wish["date"]] if wish.get("date") else _DATE.findall(" ".join(_texts(request.contents)[1:]))
    if not days:
        return "On which day do you want to fly? Write it as 2027-01-31."
    known = dict(_results(request))
    if "book_flight" in known:
        return call("finish_task", **known["book_flight"])
    if "search_flights" in known:
        found = known["search_flights"]["result"]
        if not found:
            return f"Nothing flies from {wish['origin']} to {wish['destination']}. Where else do you want to go?"
        cheapest = min(found, key=lambda one: one["price"])
        return call("book_flight", flight=cheapest["flight"], date=days[-1])
    return call("search_flights", origin=wish["origin"], destination=wish["destination"], date=days[-1])


def _results(request: LlmRequest) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give name and result of each call since the last words of a person."""
    found: list[tuple[str, dict[str, Any]]] = []
    for content in request.contents:
        for part in content.parts or ():
            if content.role == "user" and part.text:
                found.clear()
            if part.function_response is not None:
                found.append((part.function_response.name or "", dict(part.function_response.response or {})))
    return iter(found)


def _texts(contents: list[types.Content]) -> list[str]:
    return [part.text for content in contents if content.role == "user" for part in content.parts or () if part.text]
