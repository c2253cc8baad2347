"""Questions in our own wordings, for the types of which published sets have few or none.

None is taken from a set. The words in braces are filled from `SLOTS`. All questions of a wording are in one half (by
`training.data.half_of` of the wording), so that what is reported is of wordings that were not learnt from.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Final

from ragways.reading.question_type import QuestionType

FILLED: Final = 6
"""Questions of a wording that has something to fill in."""

SLOTS: Final = {
    "docs": "documents|articles|reports|papers|texts|notes|pages|files|records|chapters|messages|transcripts|letters",
    "doc": "document|article|report|paper|text|file|record|chapter|letter|contract|manual|page",
    "corpus": "corpus|collection|data set|archive|library|knowledge base|material|data|handbook|documentation|book",
    "name": "Marta Quell|Osric Vane|Helios Systems|the Treaty of Brandt|Lowell Bridge|Anna Petrov|"
    "Nordhaven|the Delta Board|Project Kestrel|Ravi Menon|Castle Thorne|the Ortega Foundation|"
    "Jonas Weir|Veldt & Sons|Mount Arrel|Lake Ossa",
    "other": "Ingrid Solberg|Pavel Kline|Tarn Industries|the Accord of Lindt|Calder Tunnel|Lucia Ferro|"
    "Westmere|the Harbour Trust|Project Osprey|Dina Haddad|Fort Maren|the Bell Institute|"
    "Silas Crowe|Amber Labs|Mount Istra|the River Tey",
    "topic": "water|safety|trade|pricing|housing|privacy|migration|training|energy|pensions|"
    "fishing|security|storage|noise|transport|medicine|schooling|funding|weather|recycling|"
    "diet|testing|hiring|taxation",
    "things": "bridges|films|novels|companies|patients|towns|ships|projects|species|engineers|laws|"
    "accidents|products|songs|contracts|treaties|players|drugs|errors|meetings|castles|"
    "programmers",
    "thing": "bridge|film|novel|company|patient|town|ship|project|species|engineer|law|accident|"
    "product|song|contract|treaty",
    "role": "director|author|founder|mayor|architect|owner|chair|composer|captain|inventor|editor|"
    "coach|publisher|mother|father",
    "near": "father|mother|wife|husband|son|daughter|brother|sister|teacher|successor",
    "kin": "grandmother|grandfather|uncle|aunt|mother-in-law|brother-in-law|great-grandfather|stepfather|niece|cousin",
    "done": "opened|founded|published|signed|closed|sold|built|launched|renamed|elected|merged|released",
    "year": "1887|1921|1954|1978|1999|2008|2016|2021|1866|1903",
    "later": "1912|1948|1969|1985|2005|2012|2020|2023|1897|1931",
    "place": "Norway|Brazil|Ghent|Osaka|Wales|Kenya|Lisbon|Ohio|Genoa|Bremen",
    "month": "January|March|May|June|August|October|December",
}

WORDINGS: Final[dict[QuestionType, str]] = {
    "summary": """
What are the main themes across all these {docs}?
What themes run through the {corpus}?
What are the most important topics in this {corpus}?
Which topics does the {corpus} cover?
Summarise what the {corpus} says about {topic}.
Summarize the {docs} for me.
Summarise everything here in a few sentences.
Please give me a summary of these {docs}
Give an overview of the whole {corpus}.
Give me a high-level overview of {topic} in the {docs}.
Can you give a short overview of what is in here?
What is this {corpus} about?
What is this {doc} about?
What are these {docs} about overall?
tl;dr of the {corpus}
What are the key points of the {docs}?
What are the key takeaways on {topic}?
What are the main findings across the {docs}?
What conclusions do the {docs} reach as a whole?
What patterns emerge from the {docs}?
Which trends can be seen across the {corpus}?
What trends in {topic} do the {docs} show?
How do views on {topic} vary across the {corpus}?
What are the different perspectives on {topic} in these {docs}?
What are the main arguments made in the {docs} about {topic}?
What do the {docs} as a whole tell us about {topic}?
What does the {corpus} reveal about {topic} in general?
Overall, what problems with {topic} do people raise?
What concerns come up again and again?
What are the recurring ideas in this {corpus}?
Describe the overall tone of the {docs}.
Describe the general approach to {topic} in the {corpus}.
Describe the structure of the {corpus}.
Outline the history of {topic} as told in the {docs}.
Outline the main events of the {doc}.
Outline the career of {name}.
Describe the life and work of {name}.
Tell me about {topic}.
Tell me everything about {name}.
Tell me the gist of the {doc}.
What is the gist of the {docs} on {topic}?
What is the big picture here?
What should a newcomer know about this {corpus}?
What lessons can be drawn from the {docs}?
What are the central issues in the {docs} on {topic}?
What are the broad categories of {things} discussed?
What role does {topic} play throughout the {corpus}?
How is {topic} portrayed throughout the {docs}?
How would you characterise the {corpus} as a whole?
Explain the main ideas of the {doc}.
Explain what the {docs} have in common.
What do all these {docs} have in common?
Write a brief summary of what is known about {name}.
Summarise how {name} came about and what followed.
Provide a synopsis of the {doc}.
Provide a synthesis of the evidence on {topic}.
Give an account of the rise and fall of {name}.
Who are the main characters and what happens to them?
What happens in the {doc}?
What are the major factors that shape {topic}, and how do they relate?
What are the main risks and benefits of {topic}?
What are the strengths and weaknesses of the approach to {topic}?
What topics are discussed most in the {docs}?
In general terms, what does the {corpus} deal with?
Discuss the significance of {topic} in the {doc}.
If you had to describe the {corpus} in one paragraph, what would you say?
What is the overall sentiment towards {topic}?
What were the causes and consequences of {name}?
What is the state of {topic} according to the {docs}?
Identify the most prominent themes and explain each.
""",
    "aggregate": """
How many {docs} mention {name}?
How many of the {docs} are about {topic}?
How many {things} are there in total?
How many {things} are mentioned in the {corpus}?
How many {things} did {name} and {other} work on altogether?
How many different {things} appear in the {docs}?
How many {things} were {done} after {year}?
How many {things} were {done} between {year} and {later}?
How many {things} are located in {place}?
How many times is {name} mentioned?
In how many {docs} does {name} appear?
In how many {docs} is {topic} named?
What is the total number of {things}?
What is the number of {things} in {place}?
What is the average number of {things} per {doc}?
What is the combined number of {things} of {name} and {other}?
What percentage of the {docs} deal with {topic}?
What share of the {things} was {done} before {year}?
Count the {things} that were {done} in {year}.
Count all {docs} that mention {topic}.
List all {things} mentioned in the {docs}.
List all {things} in {place}.
List the {things} that {name} {done}.
List every {thing} that was {done} in {year}.
List the names of all {things} connected with {name}.
Give me a list of all {things}.
Give me the complete list of {things} in {place}.
Name all {things} that {name} {done}.
Name every {thing} in the {corpus}.
Name the {things} that appear in more than one {doc}.
Enumerate the {things} by {name}.
Find all {docs} that mention {name}.
Find every {thing} from {place}.
Show me all {things} {done} by {name}.
Show all {docs} from {year}.
Which {docs} mention {name}?
Which {docs} talk about both {name} and {other}?
Which {things} are in {place}?
Which {things} were {done} in {year}?
Which of the {things} were {done} by {name}?
Which {thing} is mentioned most often?
Which {thing} occurs in the largest number of {docs}?
Which {role} has the most {things}?
Who are all the people mentioned in the {corpus}?
Who are all the {things} that worked with {name}?
Who is named in more than three {docs}?
Which people appear in at least two {docs}?
What {things} has {name} {done}?
What are all the {things} of {name}?
What are the names of the {things} in {place}?
What are the top five {things} by number of mentions?
Rank the {things} by how often they are named.
Are there any {docs} that do not mention {topic}?
Do any of the {docs} mention {topic}?
Do all {docs} agree on {topic}?
What is the most common {thing} in the {corpus}?
What is the sum of all payments to {name}?
How much did all {things} cost together?
Every {thing} {done} in {place}, please
How often does {topic} come up in the {docs}?
""",
    "temporal": """
What happened to {name} after {year}?
What happened between {month} {year} and {later}?
What changed at {name} between {year} and {later}?
What changed after {name} was {done}?
What did {name} do before {year}?
What did {name} do in the years after the {thing} was {done}?
How did {topic} change over time?
How has {name} changed since {year}?
How did the number of {things} develop between {year} and {later}?
How has the position of {name} on {topic} evolved?
How long after {name} was {done} did {other} close?
How long before {name} was {other} {done}?
How many years passed between {name} and {other}?
How many years after {name} was {other} {done}?
How many days separate {name} from {other}?
How much time lay between {name} and {other}?
How old was {name} when {other} was {done}?
How old was the {role} of {name} in {year}?
Who was the {role} of {name} in {year}?
Who was the {role} of {name} when {other} was {done}?
Who was {role} before {name}?
Who was {role} after {name}?
Who followed {name} as {role}?
Who came before {name} as {role} of {other}?
What was the name of {name} before {year}?
What was {place} called in {year}?
Until which year was {name} {role} of {other}?
Until when did {name} stay in {place}?
Since when has {name} been {role}?
Since which year has {name} been closed?
During which years was {name} the {role}?
During the time that {name} was {role}, which {thing} was {done}?
While {name} was {role} of {other}, what was {done}?
At the time {name} was {done}, who was {role} of {other}?
What was the latest figure reported for {name}?
What is the most recent {doc} about {name}?
What is the current {role} of {name}, and who was it in {year}?
As of {month} {year}, who was the {role} of {name}?
Is {name} still the {role} of {other}?
Did {name} still own {other} in {year}?
Did the view of {name} change between the {doc} of {month} {year} and that of {later}?
Did the {doc} on {name} from {month} {year} differ from the later one?
Was the figure given in {month} {year} later corrected?
Was {topic} treated the same way before and after {year}?
In what order were {name}, {other} and the {thing} {done}?
Put the events around {name} in order.
Give a timeline of {name}.
When was {name} last changed, and what was it before?
Which {thing} was in force on 3 {month} {year}?
How did the budget for {topic} move from {year} to {later}?
In what way did the policy on {topic} shift between {year} and {later}?
What was decided about {topic} following the events of {month} {year}?
What did the {role} of {name} announce after the {thing} of {year}?
What came first, the {thing} of {name} or its sale in {year}?
How many months went by until {name} was {done} again?
How many years lie between the birth of {name} and the death of {other}?
For how long was {name} closed before {year}?
Who ran {name} from {year} to {later}?
Who held the post of {role} in {place} during the {thing} of {year}?
What had happened to {name} by the end of {year}?
Has {name} moved since {year}?
Which was the last {thing} before {year}?
When, after {year}, was {name} {done} again?
What is different about {name} now compared with {year}?
Which came into being after {name} had been {done} but before {year}?
""",
    "unanswerable": """
What is the weather like in {place} today?
What is the weather going to be tomorrow?
What time is it?
What time is it now in {place}?
What day is it today?
Who will win the next election in {place}?
Who will win the world cup next year?
What will the price of oil be in 2040?
What will {name} do next year?
Will {name} still exist in fifty years?
When will {name} die?
What is my name?
What is my password?
Where do I live?
Where did I leave my keys?
What did I have for breakfast?
What should I wear tomorrow?
Should I buy shares of {name}?
What is your favourite {thing}?
What do you think of me?
How are you today?
Who are you?
Are you a robot?
Can you book me a flight to {place}?
Can you send an email to {name}?
Call {name} for me.
Order me a pizza.
Remind me to call {name} at five.
Tell me a joke.
Write me a poem about my cat.
What am I thinking of?
What is the meaning of life?
Is {name} a good person?
Which {thing} is the best?
What is the share price of {name} right now?
How many people are reading this right now?
What is the secret phone number of {name}?
What is the home address of {name}?
What is the bank account number of {name}?
What was {name} thinking when nobody was there?
What colour were the socks of {name} on the day {other} was {done}?
Translate this into French.
What is the latest news?
What is playing at the cinema tonight?
When does my train leave?
Did my {near} call?
How old is my {near}?
Which {thing} do I like most?
Will I get the job?
Will there be a storm this weekend?
How will the market for {topic} do next month?
What will happen to {name} in ten years?
Can I park here?
What does my {doc} say about me?
""",
    "bridge": """
Who is the {role} of the {role} of {name}?
Where was the {role} of {name} born?
When did the {role} of the {thing} by {name} die?
What else did the {role} of {name} write?
In which country is the town where the {role} of {name} was born?
Which {thing} was {done} by the same {role} as {name}?
Which {thing} is named after the {role} of {name}?
What is the capital of the country where {name} was {done}?
Which company owns the {thing} that {name} {done} in {year}?
Which school did the person who {done} {name} go to?
How are {name} and {other} connected?
How is {name} related to {other}?
What links {name} to {other}?
What does {name} have to do with {other}?
By what chain of events did {name} lead to {other}?
Through whom did {name} come to know {other}?
Who taught the {role} who {done} {name}?
What is the nationality of the {role} whose {thing} was {done} in {year}?
Why did the {thing} of the {role} of {name} fail?
Why did {topic} lead to {name} being {done}?
If {name} is {done}, what does this mean for {other}?
If the rule on {topic} applies to {name}, what must its {role} do?
How did {name} influence the {thing} that {other} later {done}?
How does {topic} affect {topic} in the case of {name}?
The {role} of {name} was also the {role} of which {thing}?
{name} was {done} by a {role} who came from which town?
When did {name}'s {near} die?
Where did the {near} of {name} study?
In which town was {name}'s {near} born?
What was the job of the {near} of {name}?
Who was the {kin} of {name}?
What was {name}'s {kin} called?
Who did the {near} of the {role} of {name} marry?
What would follow for {other} if {name} were {done}?
Which river flows through the city where {name} has its seat?
""",
    "comparison": """
Which is older, {name} or {other}?
Which is larger, {name} or {other}?
Which was {done} first, {name} or {other}?
Who lived longer, {name} or {other}?
Who has {done} more {things}, {name} or {other}?
Was {name} {done} before {other}?
Is {name} taller than {other}?
Is {topic} more important to {name} than to {other}?
Are {name} and {other} from the same country?
Are {name} and {other} both {things}?
Do {name} and {other} have the same {role}?
Do {name} and {other} agree on {topic}?
Did both {name} and {other} work on {topic}?
Did {name} get more for the {thing} than {other}?
Compare {name} and {other}.
Compare the approaches of {name} and {other} to {topic}.
Compare how the {docs} of {year} and {later} treat {topic}.
Contrast {name} with {other}.
How do {name} and {other} differ?
How does {name} differ from {other} in {topic}?
How does {name} compare to {other}?
How do the two {docs} on {topic} differ?
What is the difference between {name} and {other}?
What are the differences between {topic} at {name} and at {other}?
What do {name} and {other} have in common?
What distinguishes {name} from {other}?
In what ways are {name} and {other} alike?
What are the pros and cons of {name} versus {other}?
{name} or {other}: which has fewer {things}?
{name} vs {other}
Between {name} and {other}, which was {done} later?
Of {name} and {other}, who was the older?
Is the {topic} of {name} the same as that of {other}?
Which of the two, {name} and {other}, costs less?
Does {name} have a better record on {topic} than {other}?
Should one prefer {name} over {other} for {topic}?
What advantage does {name} have over {other}?
Which {thing} had the higher price, {name} or {other}?
""",
    "factual": """
Who is {name}?
Who {done} {name}?
When was {name} {done}?
In what year was {name} {done}?
Where is {name}?
Where was {name} {done}?
What is {name}?
What is the height of {name}?
What does {name} do?
What is the name of the {role} of {name}?
Who was the first {role} of {name}?
How tall is {name}?
How long is {name}?
How old is {name}?
How much did {name} cost?
How many people work at {name}?
How many seats does {name} have?
What is the phone number of {name}?
Which {thing} did {name} write?
Which language is spoken in {place}?
What is the definition of {topic}?
What does the term {topic} mean?
Why was {name} {done}?
How do I change the {topic} of a {thing}?
How can one reset {name}?
Is {name} open on Sundays?
Can {name} be used with {other}?
Does {name} support {topic}?
What is the default for {topic}?
What is the maximum length of a {thing}?
Does the contract with {name} say anything about {topic}?
What does clause 7 say?
What did {name} say about {topic}?
What causes {topic}?
How do I install {name}?
How do I turn off {topic}?
How do I open a {doc} with {name}?
Where can I find the {doc} on {topic}?
Where do I set the limit for {topic}?
Can I use {name} without {topic}?
Which option turns on {topic}?
What is the capital of {place}?
What is the population of {place}?
What is the address of the {role} of {place}?
What is the newest {thing} of {name}?
What does the {doc} of {name} say on page 4?
Which {docs} must be signed by {name}?
Who signed the {doc} with {name}?
What is the date of the {doc} to {name}?
""",
}


def written(seed: int) -> Iterator[tuple[str, str, QuestionType]]:
    """Wording, question and type of each question: those of a wording together, none of them twice."""
    for type, block in WORDINGS.items():
        for wording in block.strip().splitlines():
            draw = random.Random(f"{seed}/{wording}")
            yield from ((wording, text, type) for text in dict.fromkeys(fill(wording, draw) for _ in range(FILLED)))


def fill(wording: str, draw: random.Random) -> str:
    """A wording with words in its braces; a question mark is now and then left out, as people do."""
    filled = re.sub(r"\{(\w+)\}", lambda slot: draw.choice(SLOTS[slot[1]].split("|")), wording)
    filled = filled[0].upper() + filled[1:]
    return filled.rstrip("?.") if draw.random() < 0.15 else filled
