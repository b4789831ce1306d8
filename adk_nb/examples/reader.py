"""A small classifier that reads tickets: naive Bayes over words, fitted in milliseconds, without any network.

It stands in for a language model where none can be asked. Because it is fitted on one half of the labelled file only,
its mistakes on the other half are real, and so is the routing accuracy that is measured with it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from typing import Self

from adk_nb.errors import ConfigurationError
from adk_nb.examples.orders import mask_orders
from adk_nb.examples.tickets import LabelledTicket

_STOP_WORDS = frozenset({
    "a", "am", "an", "and", "are", "as", "at", "be", "been", "but", "by", "do", "does", "for", "from", "had",
    "has", "have", "he", "her", "his", "i", "id", "if", "im", "in", "is", "it", "its", "ive", "me", "my", "not",
    "of", "on", "or", "our", "she", "so", "that", "the", "their", "them", "then", "there", "they", "this", "to",
    "us", "was", "we", "were", "what", "when", "which", "who", "will", "with", "you", "your",
})  # fmt: skip
_KINDS_OF_NUMBER = ("orderno", "money", "number")
_ENDINGS = ("ing", "ed", "es", "s", "d", "e")
_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?])\s+|\n+")


class NaiveBayesReader:
    """Say what a ticket is about, from the words that labelled tickets use.

    Multinomial naive Bayes with Laplace smoothing: every word seen in fitting adds its log-probability under each
    label, words never seen add nothing. Order ids, sums of money and other numbers count as one word each, so that
    "a sum is named" is evidence and the sum isn't. The same tickets always give the same reader.

    Example:
        >>> from adk_nb.examples import load_tickets
        >>> reader = NaiveBayesReader().fit(load_tickets("train"))
        >>> reader.predict("You charged my card twice, please refund one payment")[0]
        'BILLING'
        >>> reader.summary("Hi there. The app crashes when I open an album! Cheers, Jo")
        'The app crashes when I open an album!'
    """

    def __init__(self) -> None:
        self._log_prior: dict[str, float] = {}
        self._log_likelihood: dict[str, dict[str, float]] = {}

    @property
    def labels(self) -> list[str]:
        """The labels that it was fitted on, sorted.

        Raises:
            ConfigurationError: it was never fitted.
        """
        if not self._log_prior:
            raise ConfigurationError(
                "This NaiveBayesReader was asked before it was fitted; call fit(load_tickets('train')) first."
            )
        return list(self._log_prior)

    def fit(self, tickets: Iterable[LabelledTicket]) -> Self:
        """Learn from the tickets' texts and labels, forgetting what was learnt before; returns the reader itself.

        Raises:
            ConfigurationError: there is no ticket to learn from.
        """
        number_of_tickets: Counter[str] = Counter()
        counts: dict[str, Counter[str]] = {}
        for ticket in tickets:
            number_of_tickets[ticket.category] += 1
            counts.setdefault(ticket.category, Counter()).update(words(ticket.text))
        if not counts:
            raise ConfigurationError(
                "NaiveBayesReader.fit got no tickets and can't learn from none; give it load_tickets('train')."
            )
        vocabulary = sorted(set().union(*counts.values()))
        self._log_prior = {
            label: math.log(number / number_of_tickets.total()) for label, number in sorted(number_of_tickets.items())
        }
        self._log_likelihood = {
            label: {
                word: math.log((counts[label][word] + 1) / (counts[label].total() + len(vocabulary)))
                for word in vocabulary
            }
            for label in self._log_prior
        }
        return self

    def predict(self, text: str) -> tuple[str, float]:
        """Return the likeliest label and its probability.

        Words count as independent, which they aren't: the order of the probabilities is good, their height is too
        sure of itself. A text of unknown words gets the label that was more frequent in fitting, by name in a tie.

        Raises:
            ConfigurationError: the reader was never fitted.
        """
        found = words(text)
        scores = {name: self._log_prior[name] + self._log_likelihood_of(found, name) for name in self.labels}
        label = max(self.labels, key=lambda name: scores[name])
        total = sum(math.exp(score - scores[label]) for score in scores.values())
        return label, 1 / total

    def summary(self, text: str, *, label: str | None = None, max_length: int = 100) -> str:
        """Return the ticket's most telling sentence as one line of at most `max_length` characters.

        Telling is the sentence whose words speak most clearly for `label` (`None`: the predicted one); the first of
        equals. It is a quotation, cut at a word where it is too long, never new text. Empty for an empty ticket.
        """
        chosen = label if label is not None else self.predict(text)[0]
        parts = sentences(text)
        if not parts:
            return ""
        return _cut(max(parts, key=lambda sentence: self.weight(sentence, chosen)), max_length)

    def weight(self, text: str, label: str) -> float:
        """Return how much the text's own words speak for the label: log-odds, 0 for a text that says nothing.

        Order ids, sums and numbers are left out here: they help to predict, but tell a person nothing.
        """
        plain_words = [word for word in words(text) if word not in _KINDS_OF_NUMBER]
        scores = {name: self._log_likelihood_of(plain_words, name) for name in self.labels}
        if label not in scores:
            raise ConfigurationError(f"This reader knows no label {label!r}; it was fitted on {sorted(scores)}.")
        others = [score for name, score in scores.items() if name != label]
        return scores[label] - max(others) if others else 0.0

    def _log_likelihood_of(self, found: list[str], label: str) -> float:
        known = self._log_likelihood[label]
        return sum(known[word] for word in found if word in known)


def words(text: str) -> list[str]:
    """Return the words a reader counts: folded to lower case, without stop words and endings, numbers by their kind.

    Example:
        >>> words("I was charged €34.90 twice, for order FL-20417!")
        ['charg', 'money', 'twic', 'order', 'orderno']
    """
    order, money, number = (f" {kind} " for kind in _KINDS_OF_NUMBER)
    masked = re.sub(r"\d+(?:[.,]\d+)*", number, mask_orders(text, order=order, money=money))
    found = re.findall(r"[^\W\d_]+", masked.casefold().replace("'", "").replace("’", ""))
    return [_stem(word) for word in found if len(word) > 1 and word not in _STOP_WORDS]


def sentences(text: str) -> list[str]:
    r"""Split a text into its sentences and lines, white space tidied, in their order.

    Example:
        >>> sentences("App 5.2 froze. Why?!\n1) open it")
        ['App 5.2 froze.', 'Why?!', '1) open it']
    """
    found = (" ".join(part.split()) for part in _BETWEEN_SENTENCES.split(text))
    return [sentence for sentence in found if sentence]


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word


def _cut(line: str, max_length: int) -> str:
    if len(line) <= max_length:
        return line
    kept = line[: max_length - 1]
    at_word = kept.rsplit(" ", 1)[0] if line[max_length - 1] != " " and " " in kept else kept
    return at_word.rstrip(" ,;:") + "…"
