"""A page about the endpoints of a cloud assembly that a person can read without a network."""

from lmi_constructs.report.page import render
from lmi_constructs.report.view import EndpointView, ServedView, view
from lmi_constructs.report.words import Sentence

__all__ = ["EndpointView", "Sentence", "ServedView", "render", "view"]
