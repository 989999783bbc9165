"""The home page: where all sites are listed, with a calculator and a scratchpad for notes."""
