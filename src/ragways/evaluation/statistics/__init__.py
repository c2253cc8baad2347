"""What a difference between paradigms is worth: paired by question, with what could not have been shown."""
