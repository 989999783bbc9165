"""Browsing: tabs, history, clicks and forms, behind one interface for every back end."""
