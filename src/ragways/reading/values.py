"""Values in a text that can be compared: periods of time, amounts with their units, countries.

Each is found with its place. What is known only in part stays so: a year is a period of 365 days, a century one of a
hundred years, and of two periods that overlap neither is the earlier one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ragways.core import dates
from ragways.core.text import lazy_regex

LONGEST: Final = 8_000
"""Characters of a text that are looked at."""


@dataclass(frozen=True, slots=True)
class Period:
    """From a day to a day, each (year, month, day), both included; found in characters `start:end` of a text."""

    first: tuple[int, int, int]
    last: tuple[int, int, int]
    start: int = 0
    end: int = 0

    def before(self, other: Period) -> bool | None:
        """Whether this one is earlier; None where they overlap, so that nobody can tell."""
        if self.last < other.first:
            return True
        return False if other.last < self.first else None


@dataclass(frozen=True, slots=True)
class Amount:
    """A number in the base unit of its dimension (`m`, `m2`, `kg`, `min`, `%`, `$`; none for a count), at its place."""

    value: float
    unit: str = ""
    start: int = 0
    end: int = 0


_CENTURY = lazy_regex(r"\b(?:(early|mid|late)[ -])?(\d{1,2})(?:st|nd|rd|th)[ -]century\b( BC)?", re.IGNORECASE)
_DECADE = lazy_regex(r"\b(?:(early|mid|late)[ -])?(1\d|20)(\d)0s\b", re.IGNORECASE)
_OLD_YEAR = lazy_regex(
    r"(?:\b(?:in|c\.|ca\.|circa|about|around|AD|born|died|b\.|d\.|year|[–—(-]) ?)(\d{3})(?![\d,.]*\d)"
    r"(?! ?(?:%|km|m|kg|people|other|years|days|ft|feet|miles)\b)(?:( BC)| AD)?(?=\W|$)",
)
_YEAR_END = lazy_regex(r"(\d{4})[–-](\d{2})(?!\d)")
_AROUND = lazy_regex(r"(?:\b(?:c|ca|circa|about|around|approx)\b\.?|~) ?$", re.IGNORECASE)
_PARTS: Final = {"early": (0, 0.4), "mid": (0.3, 0.7), "late": (0.6, 1), "": (0, 1)}
_UNSURE: Final = 2
"""Years to either side that "about 1900" may mean."""


def periods(text: str) -> list[Period]:
    """The dates of a text in order: days, months, years, decades and centuries."""
    text = text[:LONGEST]
    found = [_of_date(text, *each) for each in dates.find(text)]
    found += [_stretch(match, (int(match[2]) - 1) * 100 + 1, 100) for match in _CENTURY.finditer(text) if not match[3]]
    found += [_stretch(match, int(match[2] + match[3]) * 10, 10) for match in _DECADE.finditer(text)]
    for match in _OLD_YEAR.finditer(text):
        year = -int(match[1]) if match[2] else int(match[1])
        if not any(one.start <= match.start(1) < one.end for one in found):
            found.append(Period((year, 1, 1), (year, 12, 31), match.start(1), match.end(1)))
    for match in _YEAR_END.finditer(text):
        year = int(match[1][:2] + match[2])
        if year >= int(match[1]) and not any(one.start <= match.start(2) < one.end for one in found):
            found.append(Period((year, 1, 1), (year, 12, 31), match.start(2), match.end(2)))
    return sorted(found, key=lambda one: one.start)


def _of_date(text: str, start: int, end: int, date: dates.PartialDate) -> Period:
    unsure = _UNSURE if _AROUND.search(text, max(0, start - 10), start) else 0
    first = (date.year - unsure, date.month or 1, date.day or 1)
    return Period(first, (date.year + unsure, date.month or 12, date.day or 31), start, end)


def _stretch(match: re.Match[str], first: int, years: int) -> Period:
    low, high = _PARTS[(match[1] or "").casefold()]
    return Period((first + int(low * years), 1, 1), (first + int(high * years) - 1, 12, 31), match.start(), match.end())


_SMALL: Final = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen twenty
"""
_WORDS: Final = {word: number for number, word in enumerate(_SMALL.split())} | {
    "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "dozen": 12
}  # fmt: skip
_MAGNITUDES: Final = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "": 1.0}
_UNITS: Final = {
    name: (unit, factor)
    for unit, factor, names in (
        ("m", 1000.0, "km kilometers kilometres kilometer kilometre"),
        ("m", 1.0, "m metres meters metre meter"),
        ("m", 0.01, "cm centimetres centimeters"),
        ("m", 1609.344, "mi miles mile"),
        ("m", 0.3048, "ft feet foot"),
        ("m2", 1e6, "km2 km² sqkm"),
        ("m2", 2589988.0, "sqmi"),
        ("m2", 1e4, "ha hectares"),
        ("m2", 4046.86, "acres"),
        ("kg", 1.0, "kg kilograms kilogrammes"),
        ("kg", 1000.0, "tonnes tons"),
        ("kg", 0.4536, "lb lbs pounds"),
        ("min", 1.0, "minutes minute min"),
        ("min", 60.0, "hours hour"),
        ("%", 1.0, "% percent"),
    )
    for name in names.split()
}
_AMOUNT = lazy_regex(
    r"(?<![\w.,])(?P<sign>[$€£])? ?"
    rf"(?:(?P<digits>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?)|(?P<word>{'|'.join(_WORDS)})\b)"
    r"(?:[ -](?P<magnitude>hundred|thousand|million|billion|trillion)\b)?(?P<square> ?(?:square|sq\.?)(?= ))?"
    rf"(?:[ -]?(?P<unit>{'|'.join(sorted(map(re.escape, _UNITS), key=len, reverse=True))})(?!\w))?",
    re.IGNORECASE,
)


def amounts(text: str) -> list[Amount]:
    """The numbers of a text in order, in figures or words, in base units; "2.5 million" is one number."""
    return list(_amounts(text[:LONGEST]))


def _amounts(text: str) -> Iterator[Amount]:
    for match in _AMOUNT.finditer(text):
        number = float(match["digits"].replace(",", "")) if match["digits"] else float(_WORDS[match["word"].casefold()])
        unit, factor = _UNITS.get((match["unit"] or "").casefold(), ("", 1.0))
        if match["square"]:
            unit, factor = ("m2", factor**2) if unit == "m" else (unit, factor)
        number *= _MAGNITUDES[(match["magnitude"] or "").casefold()] * factor
        yield Amount(number, unit or ("$" if match["sign"] else ""), match.start(), match.end())


_COUNTRIES: Final = """
Afghanistan: Afghan; Albania: Albanian; Algeria: Algerian; Andorra: Andorran; Angola: Angolan; Argentina: Argentine,
Argentinian, Argentinean; Armenia: Armenian; Australia: Australian; Austria: Austrian; Azerbaijan: Azerbaijani;
Bahamas: Bahamian; Bahrain: Bahraini; Bangladesh: Bangladeshi; Barbados: Barbadian; Belarus: Belarusian; Belgium:
Belgian, Flemish; Belize: Belizean; Benin: Beninese; Bhutan: Bhutanese; Bolivia: Bolivian; Bosnia and Herzegovina:
Bosnian; Botswana: Botswanan; Brazil: Brazilian; Brunei: Bruneian; Bulgaria: Bulgarian; Burkina Faso: Burkinabé;
Burma: Burmese | Myanmar; Burundi: Burundian; Cambodia: Cambodian; Cameroon: Cameroonian; Canada: Canadian, Québécois
| Quebec, Ontario, Manitoba, Saskatchewan, Alberta, British Columbia, Nova Scotia, New Brunswick, Newfoundland; Cape
Verde: Cape Verdean; Chad: Chadian; Chile: Chilean; China: Chinese; Colombia: Colombian; Congo: Congolese; Costa Rica:
Costa Rican; Croatia: Croatian; Cuba: Cuban; Cyprus: Cypriot; Czech Republic: Czech; Czechoslovakia: Czechoslovak,
Czechoslovakian; Denmark: Danish; Djibouti: Djiboutian; Dominican Republic: Dominican; East Timor: Timorese; Ecuador:
Ecuadorian; Egypt: Egyptian; El Salvador: Salvadoran; Eritrea: Eritrean; Estonia: Estonian; Ethiopia: Ethiopian; Fiji:
Fijian; Finland: Finnish; France: French; Gabon: Gabonese; Gambia: Gambian; Georgia: Georgian; Germany: German, West
German, East German | West Germany, East Germany; Ghana: Ghanaian; Greece: Greek; Greenland: Greenlandic; Guatemala:
Guatemalan; Guinea: Guinean; Guyana: Guyanese; Haiti: Haitian; Honduras: Honduran; Hong Kong; Hungary: Hungarian;
Iceland: Icelandic; India: Indian, Hindi, Tamil, Telugu, Malayalam, Kannada, Marathi, Bengali, Bollywood, Punjabi,
Gujarati; Indonesia: Indonesian; Iran: Iranian, Persian; Iraq: Iraqi; Ireland: Irish; Israel: Israeli; Italy: Italian;
Ivory Coast: Ivorian; Jamaica: Jamaican; Japan: Japanese; Jordan: Jordanian; Kazakhstan: Kazakh, Kazakhstani; Kenya:
Kenyan; Kosovo: Kosovar, Kosovan; Kuwait: Kuwaiti; Kyrgyzstan: Kyrgyz; Laos: Laotian; Latvia: Latvian; Lebanon:
Lebanese; Lesotho: Basotho; Liberia: Liberian; Libya: Libyan; Liechtenstein; Lithuania: Lithuanian; Luxembourg:
Luxembourgish; Madagascar: Malagasy; Malawi: Malawian; Malaysia: Malaysian; Maldives: Maldivian; Mali: Malian; Malta:
Maltese; Mauritania: Mauritanian; Mauritius: Mauritian; Mexico: Mexican; Moldova: Moldovan; Monaco: Monégasque;
Mongolia: Mongolian; Montenegro: Montenegrin; Morocco: Moroccan; Mozambique: Mozambican; Namibia: Namibian; Nepal:
Nepalese, Nepali; Netherlands: Dutch; New Zealand: New Zealander; Nicaragua: Nicaraguan; Niger: Nigerien; Nigeria:
Nigerian; North Korea: North Korean; North Macedonia: Macedonian | Macedonia; Norway: Norwegian; Oman: Omani;
Pakistan: Pakistani; Palestine: Palestinian; Panama: Panamanian; Papua New Guinea; Paraguay: Paraguayan; Peru:
Peruvian; Philippines: Filipino, Philippine, Filipina; Poland: Polish; Portugal: Portuguese; Puerto Rico: Puerto
Rican; Qatar: Qatari; Romania: Romanian; Russia: Russian; Rwanda: Rwandan; Saudi Arabia: Saudi, Saudi Arabian;
Senegal: Senegalese; Serbia: Serbian; Sierra Leone; Singapore: Singaporean; Slovakia: Slovak; Slovenia: Slovene,
Slovenian; Somalia: Somali; South Africa: South African; South Korea: South Korean, Korean; South Sudan: South
Sudanese; Soviet Union: Soviet; Spain: Spanish, Catalan | Catalonia; Sri Lanka: Sri Lankan, Sinhala; Sudan: Sudanese;
Suriname: Surinamese; Sweden: Swedish; Switzerland: Swiss; Syria: Syrian; Taiwan: Taiwanese; Tajikistan: Tajik;
Tanzania: Tanzanian; Thailand: Thai; Togo: Togolese; Trinidad and Tobago: Trinidadian; Tunisia: Tunisian; Turkey:
Turkish, Ottoman; Turkmenistan: Turkmen; Uganda: Ugandan; Ukraine: Ukrainian; United Arab Emirates: Emirati; United
Kingdom: British, English, Scottish, Welsh, Northern Irish | England, Scotland, Wales, Northern Ireland, Great
Britain, UK, Britain; United States: American | U.S., US, USA, United States of America; Uruguay: Uruguayan;
Uzbekistan: Uzbek; Venezuela: Venezuelan; Vietnam: Vietnamese; Yemen: Yemeni; Yugoslavia: Yugoslav, Yugoslavian;
Zambia: Zambian; Zimbabwe: Zimbabwean
"""
"""Each country: its people and the languages of its films alone; behind the bar other names and parts of it."""
_STATES: Final = """
Alabama, Alaska, Arizona, Arkansas, California, Colorado, Connecticut, Delaware, Florida, Hawaii, Idaho, Illinois,
Indiana, Iowa, Kansas, Kentucky, Louisiana, Maine, Maryland, Massachusetts, Michigan, Minnesota, Mississippi,
Missouri, Montana, Nebraska, Nevada, New Hampshire, New Jersey, New Mexico, New York, North Carolina, North Dakota,
Ohio, Oklahoma, Oregon, Pennsylvania, Rhode Island, South Carolina, South Dakota, Tennessee, Texas, Utah, Vermont,
Virginia, West Virginia, Wisconsin, Wyoming
"""
"""Of the United States; without Georgia, which is a country, and Washington, which is a city."""
STATES: Final = tuple(" ".join(_STATES.split()).split(", "))


@dataclass(frozen=True, slots=True)
class Country:
    """A country that a text names, at its place; `people` where by its people ("Italian"), not by its name."""

    name: str
    people: bool = False
    start: int = 0
    end: int = 0


def _table() -> dict[str, tuple[str, bool]]:
    table = dict.fromkeys(STATES, ("United States", False))
    for row in " ".join(_COUNTRIES.split()).split("; "):
        people, _, places = row.partition(" | ")
        name, _, demonyms = people.partition(": ")
        table |= {each: (name, True) for each in demonyms.split(", ") if each}
        table |= {each: (name, False) for each in (name, *places.split(", ")) if each}
    return table


_NAMES: Final = _table()
_COUNTRY = lazy_regex(
    rf"\b(?:{'|'.join(sorted(map(re.escape, _NAMES), key=len, reverse=True))})(?!\w|[ -]{{1,2}}languages?\b| Ocean\b|:)"
)
_IN_PLACE = lazy_regex(r"(?:\b(?:in|of|from|the|an?|at|to|and|near|across|\d{4})|[,(/–-]) ?$")
_AMERICAN_GEORGIA = lazy_regex(r"\b(?:County|Atlanta|U\.S\.|United States|American)")


def countries(text: str) -> list[Country]:
    """The countries of a text in order, by name, people or part. A country's name counts where it can stand for a place
    ("in Jordan"), not inside a person's; alone it is always one.
    """
    text = text[:LONGEST]
    found = []
    for match in _COUNTRY.finditer(text):
        name, people = _NAMES[match.group()]
        if not people and match.start() and not _IN_PLACE.search(text, max(0, match.start() - 8), match.start()):
            continue
        if name == match.group() == "Georgia" and _AMERICAN_GEORGIA.search(text):
            name = "United States"
        found.append(Country(name, people, match.start(), match.end()))
    return found
