"""What can be measured: of a corpus, of answers, of paradigms."""
