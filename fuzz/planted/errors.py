"""What stops the program with one line."""


class Failure(Exception):
    """Something that the user can do something about; its text is the line."""
