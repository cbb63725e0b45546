"""Copying a model to the layout that SageMaker mounts."""
