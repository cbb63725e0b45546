"""A page about the endpoints of a cloud assembly that a person can read without a network."""

from lmi_constructs.report.page import render
from lmi_constructs.report.view import EndpointView, ServedView, view

__all__ = ["EndpointView", "ServedView", "render", "view"]
