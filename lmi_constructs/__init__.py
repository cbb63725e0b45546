"""Constructs for open-weight LLMs on SageMaker endpoints with the LMI container."""
