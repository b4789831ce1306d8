"""The travel planner: a coordinator with a quick specialist and one that talks until a booking is complete."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from adk_nb import Agent
from adk_nb.errors import ConfigurationError
from adk_nb.examples import travel_model
from adk_nb.examples.travel import CITIES, FLIGHTS
from adk_nb.models import LlmRequest
from adk_nb.notebook.running.run import Run
from adk_nb.notebook.running.starts import run

WISH = "How is the weather in Oslo and Lisbon? Book a flight from Berlin to Lisbon."


class FlightInput(BaseModel):
    """What the coordinator must say."""

    origin: str
    destination: str
    date: str | None = None


class FlightResult(BaseModel):
    """What comes back."""

    flight: str
    date: str
    price: int
    code: str


def planner(bookings: list[str]) -> Agent:
    """Return the team; each booking is noted."""

    def geocode_address(address: str) -> dict[str, float]:
        """Find where a place is."""
        latitude, longitude, _ = CITIES[address]
        return {"latitude": latitude, "longitude": longitude}

    def get_weather(latitude: float, longitude: float) -> str:
        """Say the weather at a place."""
        return next(said for north, east, said in CITIES.values() if (north, east) == (latitude, longitude))

    def search_flights(origin: str, destination: str, date: str) -> list[dict[str, Any]]:
        """Find the flights of a day."""
        return [one for one in FLIGHTS if (one["origin"], one["destination"]) == (origin, destination)]

    def book_flight(flight: str, date: str) -> dict[str, Any]:
        """Book a flight."""
        bookings.append(f"{flight} {date}")
        price = next(one["price"] for one in FLIGHTS if one["flight"] == flight)
        return {"flight": flight, "date": date, "price": price, "code": "X7Q2"}

    weather_agent = Agent(
        name="weather_checker",
        description="Tells the weather of a city.",
        mode="single_turn",
        tools=[get_weather, geocode_address],
    )
    flight_agent = Agent(
        name="flight_booker",
        description="Books a flight.",
        mode="task",
        input_schema=FlightInput,
        output_schema=FlightResult,
        tools=[search_flights, book_flight],
    )
    return Agent(name="travel_planner", description="Plans trips.", sub_agents=[weather_agent, flight_agent])


def drive(work: Coroutine[Any, Any, None]) -> None:
    """Run a test's coroutine; whatever it leaves hanging fails the test."""
    asyncio.run(asyncio.wait_for(work, 30))


def calls_of(made: Run, node: str) -> int:
    """Return how often a node ran."""
    return sum(record.name == node for record in made.history.records.values())


def test_the_planner_asks_its_specialists_and_the_person() -> None:
    """Both cities are looked up side by side, the booking asks for the day in words, and the planner sums up."""

    async def main() -> None:
        bookings: list[str] = []
        made = await run(planner(bookings), WISH, model=travel_model(), sessions="memory")
        assert made.status == "waiting"
        assert [question.message for question in made.pending] == [
            "On which day do you want to fly? Write it as 2027-01-31."
        ]
        assert (calls_of(made, "weather_checker"), calls_of(made, "get_weather"), bookings) == (2, 2, [])
        await made.send("2027-02-03, please")
        assert made.status == "completed"
        assert made.output == (
            "Oslo: snow, -2 °C. Lisbon: sunny, 19 °C. Booked CD 330 on 2027-02-03 for 149 euros, code X7Q2."
        )
        assert bookings == ["CD 330 2027-02-03"]
        assert made.outputs("flight_booker") == [
            {"flight": "CD 330", "date": "2027-02-03", "price": 149, "code": "X7Q2"}
        ]

    drive(main())


def test_the_planner_goes_on_after_a_restart(tmp_path: Path) -> None:
    """The day can come later, to new agent objects on the same file: nothing is looked up or booked twice."""

    async def main() -> None:
        bookings: list[str] = []
        file = str(tmp_path / "sessions.db")
        first = await run(planner(bookings), WISH, model=travel_model(), sessions=file)
        later = await run(
            planner(bookings), "2027-02-03", model=travel_model(), session=first.session_id, sessions=file
        )
        assert (later.status, bookings) == ("completed", ["CD 330 2027-02-03"])
        assert calls_of(later, "get_weather") == 0

    drive(main())


def test_a_flight_with_its_day_needs_no_question() -> None:
    """What the coordinator says in the task needn't be asked for, and the next turn is a new run."""

    async def main() -> None:
        bookings: list[str] = []
        made = await run(
            planner(bookings), "Fly me from Oslo to Rome on 2027-03-01.", model=travel_model(), sessions="memory"
        )
        assert (made.status, bookings) == ("completed", ["CD 412 2027-03-01"])
        after = await made.send("Thanks")
        assert after is not made
        assert "book flights" in after.output

    drive(main())


def test_the_specialist_sees_only_its_task() -> None:
    """The booking agent's requests hold its task and its own talk, never the weather or the person's first words."""

    async def main() -> None:
        asked: list[LlmRequest] = []
        model = travel_model()
        inner = model._function  # type: ignore[attr-defined]  # of the FunctionModel that it is

        def watched(request: LlmRequest) -> Any:
            if request.agent_name == "flight_booker":
                asked.append(request)
            return inner(request)

        model._function = watched  # type: ignore[attr-defined]
        made = await run(planner([]), WISH, model=model, sessions="memory")
        await made.send("2027-02-03")
        said = "".join(str(part.text) for one in asked for content in one.contents for part in content.parts or ())
        assert "weather" not in said
        assert "snow" not in said

    drive(main())


def test_the_model_only_plays_its_own_agents() -> None:
    """Another agent's name is refused in a sentence that names the three."""

    async def main() -> None:
        made = await run(Agent(name="cook", model=travel_model()), "soup", sessions="memory")
        with pytest.raises(ConfigurationError, match="it can only play 'travel_planner', 'weather_checker'"):
            made.raise_for_error()

    drive(main())
