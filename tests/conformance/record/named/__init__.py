"""The named cases."""


def cases():
    return []
