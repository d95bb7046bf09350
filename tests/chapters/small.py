"""Small parameters of every chapter, with which `make small` runs it in seconds.

An empty entry runs the chapter as it stands.
"""

SMALL = {}
