"""What traversals of the window graph share."""
