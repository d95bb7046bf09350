"""Former module of :class:`~mvref.MultiView`, which stored models of earlier versions import."""

from .input import MultiView as MultiView
