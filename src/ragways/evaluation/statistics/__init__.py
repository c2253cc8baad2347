"""What a difference between paradigms is worth: paired by question, with what would mostly be missed."""
