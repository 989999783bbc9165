"""What several families of environments share, one topic a folder. It knows no family."""
