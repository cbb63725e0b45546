"""What several tests of `lmi check` need."""

import json

import pytest


@pytest.fixture
def template(tmp_path):
    def write(example, name="template.json"):
        file = tmp_path / name
        file.write_text(json.dumps(example.template(), indent=1))
        return str(file)

    return write
