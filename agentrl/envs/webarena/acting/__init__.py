"""Actions: three grammars that read into one list of primitive actions, and what these do to a back end."""
