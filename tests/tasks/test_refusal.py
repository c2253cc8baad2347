"""Refusals of any system are known by their words, and names that look like one are not."""

from __future__ import annotations

import pytest

from ragways.tasks.refusal import LONGEST, refuses

REFUSALS = [
    "",
    "Insufficient information",
    "Unknown.",
    "I don't know.",
    "I do not know the answer.",
    "We cannot tell.",
    "That cannot be determined from the text.",
    "I cannot answer",
    "I can’t answer that question based on the given context.",
    "I'm sorry, but I don't have enough information to answer this question.",
    "Sorry, I couldn't find any relevant information.",
    "The provided context does not contain information about the harbour.",
    "The context doesn't mention who built it.",
    "Based on the provided passages, it is not possible to determine the year.",
    "There is not enough information in the documents to answer.",
    "There is no information about this in the text.",
    "No information available.",
    "No relevant information found.",
    "Not mentioned.",
    "N/A",
    "Not enough information",
    "Unable to determine.",
    "I am unable to answer the question with the given passages.",
    "It is unclear from the context.",
    "The answer is not provided in the context.",
    "The question cannot be answered from the passages.",
    "As an AI language model, I cannot provide that.",
    "Unfortunately, the documents do not specify the date.",
    "None of the passages mention a lighthouse.",
    "idk",
    "The answer is unknown.",
    "Insufficient_information",
    "I'm not sure.",
    "It is not known.",
    "No answer.",
    "The text provides no information on this.",
    "According to the context, there is no mention of her birthplace.",
    "I could not find the answer in the sources.",
    "Cannot be determined.",
    "No evidence in the passages.",
    "I apologize, but I cannot find this in the documents.",
    "I have no idea.",
    "Based on the information provided, I cannot determine who it was.",
    "The documents are silent on this point.",
    "The provided passages remain silent about her birth.",
    "That isn't covered here.",
    "This topic is not addressed in the articles.",
    "Das geht aus den Dokumenten nicht hervor.",
    "Die Dokumente enthalten keine Angaben dazu.",
    "In den Quellen wird das nicht erwähnt.",
    "Dazu gibt es keine Informationen.",
    "Ich kann diese Frage nicht beantworten.",
    "Leider kann ich das anhand der Texte nicht sagen.",
    "Das weiß ich nicht.",
    "Keine Angaben.",
    "Les documents ne mentionnent pas cette date.",
    "Je ne sais pas.",
    "Je ne peux pas répondre à cette question.",
    "Cette information n'est pas disponible.",
    "Il n’y a pas assez d’informations.",
    "Aucune information à ce sujet.",
    "No answer can be given from the passages.",
    "Aus den vorliegenden Passagen geht das nicht hervor.",
    "Leider finde ich dazu keine Angaben in den Unterlagen.",
    "Die Frage kann anhand der Dokumente nicht beantwortet werden.",
    "Der Text schweigt dazu.",
    "Darüber schweigen die Dokumente.",
    "Ce point n'est pas abordé ici.",
    "Les informations sont insuffisantes.",
    "Rien n'est dit à ce sujet.",
    "Le texte reste muet sur ce point.",
]

ANSWERS = [
    "Der Vertrag enthält keine Angaben zur Grenze, sondern nur zur Fischerei.",
    "Die Frage kann auf zwei Arten gelesen werden.",
    "Rien n'est perdu",
    "Les passages muets",
    "Unknown Pleasures",
    "The Unknown Soldier.",
    "Port Averne.",
    "No one but Ada Holm.",
    "It knows no end.",
    "Sorry, Wrong Number",
    "No Country for Old Men",
    "I Can't Get No Satisfaction",
    "I Don't Know How to Love Him",
    "No evidence of life was found on Mars.",
    "There is no evidence that coffee cures colds.",
    "Not Available Light",
    "No",
    "No, it was not.",
    "None",
    "Insufficient funds",
    "Unable to Fly is a book.",
    "I don't know for certain, but it was Anna Brack.",
    "The passages do not name the architect; however, Anna Brack planned it.",
    "The Sorry State",
    "We Can't Dance",
    "Unclear Waters",
    "Information",
    "The document provides the answer: 1801.",
    "The context states that Ada Holm was born in Vik.",
    "Idkar",
    "The lake is not deep.",
    "I Cannot Tell a Lie",
    "Silent Hill",
    "The sources are silent films of 1920.",
    "It isn't the lake but the sea.",
    "Die Artikel 1 bis 5.",
    "Keine drei Jahre später.",
    "Im Text steht, dass Ada Holm in Vik geboren wurde.",
    "Die Antwort ist 1801.",
    "Das Schiff ist nicht gesunken.",
    "Les documents disent qu'il est né à Vik.",
    "Aucun pays pour le vieil homme.",
    "Il n'est pas mort en 1801, mais en 1802.",
    "Ce n'est pas moins de 12 %.",
    "Elle n'a pas d'enfants.",
    "Il n'est pas mort.",
]


@pytest.mark.parametrize("text", REFUSALS)
def test_a_refusal_is_known_by_its_words(text: str):
    assert refuses(text)
    assert refuses(f" **{text.upper()}**\n"), "dress does not matter"


@pytest.mark.parametrize("text", ANSWERS)
def test_an_answer_is_no_refusal(text: str):
    assert not refuses(text)


@pytest.mark.parametrize("text", ["the ", "in a context ", "none of the ", "could ", "the data "])
def test_a_long_text_is_read_in_no_time(text: str):
    refuses(text * LONGEST)
