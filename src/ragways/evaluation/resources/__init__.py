"""What answers and an index cost: tokens, calls, seconds, memory and money, and when a layer has paid for itself."""
