"""Duels: two paradigms judged against each other, without the biases of position, length and trial.

    rules = Rules(trials=25, samples=2)
    field = contest(Records(folder), rules)
    await Trials(judge, generator, folder, rules).run(field)
    found = result(field, folder, judged_by(judge.model.name, rules.mode), rules)

What is asked is kept in `duels.jsonl` and `lengths.jsonl` beside the records; figures come from these files alone.
"""
