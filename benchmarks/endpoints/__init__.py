"""One endpoint with scaling and two alarms, written in several ways."""
