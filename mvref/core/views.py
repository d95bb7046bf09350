"""The former place of :class:`~mvref.MultiView`, where stored models of earlier versions look."""

from .input import MultiView as MultiView
