"""Names of months in the languages that tables are written in."""

import re

from synthrisk.tasks.workspace.folded import folded

_ENGLISH = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_NAMES = (  # without accents; English, German, French, Spanish, Italian, Portuguese, Dutch, Nordic, Polish
    "january januar janner janvier enero gennaio janeiro januari styczen stycznia",
    "february februar feber fevrier febrero febbraio fevereiro februari luty lutego",
    "march marz maerz mars marzo marco maart marts marzec marca mrz",
    "april avril abril aprile avr kwiecien kwietnia",
    "may mai mayo maggio maio mei maj maja",
    "june juni juin junio giugno junho czerwiec czerwca",
    "july juli juillet julio luglio julho lipiec lipca",
    "august aout agosto augustus augusti sierpien sierpnia",
    "september septembre septiembre settembre setembro wrzesien wrzesnia",
    "october oktober octobre octubre ottobre outubro pazdziernik pazdziernika",
    "november novembre noviembre novembro listopad listopada",
    "december dezember decembre diciembre dicembre dezembro desember grudzien grudnia",
)
_WORD = re.compile(r"[^\W\d_]+\.?")
_SHORTEST = 3  # letters that a name may be cut to


def in_english(date: str) -> str:
    """Return a date whose month is in English, three letters; what is no month of a known language stays.

    Example:
        >>> in_english("5. März 1966"), in_english("12-août-2021")
        ('5. Mar 1966', '12-Aug-2021')
    """
    return _WORD.sub(lambda found: _month(found[0]) or found[0], date)


def _month(word: str) -> str | None:
    name = folded(word.rstrip("."))
    if len(name) < _SHORTEST:
        return None
    known = zip(_ENGLISH, _NAMES, strict=True)
    meant = [month for month, names in known if any(each.startswith(name) for each in names.split())]
    return meant[0] if len(meant) == 1 else None
