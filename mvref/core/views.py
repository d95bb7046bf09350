"""The old place of :class:`~mvref.MultiView`, where a stored model of before looks for it."""

from .input import MultiView as MultiView
