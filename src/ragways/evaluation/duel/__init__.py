"""Duels: two paradigms judged against each other, without the biases of position, length and trial.

    rules = DuelRules(trials=2, samples=2)
    entries = duel_entries(Records(folder), rules)
    await Trials(judge, generator, folder, rules).run(entries)
    result = duel_result(entries, folder, duel_judge(judge.model.name, rules.mode), rules)

What is asked is kept in `duels.jsonl` and `lengths.jsonl` beside the records; figures come from these files alone.
"""
