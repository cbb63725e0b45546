"""What several rules ask of a deployment; no rule is in here."""
