"""`lmi invoke` and `lmi stream`: what people see, and never a traceback."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner

from lmi_constructs.cli.invoke import invoke
from lmi_constructs.cli.stream import stream

ANSWER = {
    "choices": [
        {
            "message": {"content": "안녕", "reasoning": "Greet."},
            "finish_reason": "length",
        }
    ]
}
LINES = (
    b'{"choices":[{"index":0,"delta":{"reasoning":"Hm."}}]}\n'
    b'{"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n'
    b'{"choices":[{"index":0,"delta":{"content":" you"},"finish_reason":"stop"}]}\n'
    b'{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}\n'
)


def run(command: Any, runtime: Any, *arguments: str, given: str | bytes | None = None) -> Any:
    return CliRunner().invoke(command, arguments, input=given, env=runtime.environment)


def test_invoke_prints_the_answer_and_what_cut_it(runtime: Any) -> None:
    runtime.will_answer(ANSWER)
    result = run(invoke, runtime, "chat", "Hi", "--system", "Be short.", "--max-tokens", "1")
    assert (result.exit_code, result.stdout) == (0, "안녕\n")
    assert "Greet." in result.stderr
    assert "raise --max-tokens" in result.stderr
    assert runtime.asked[0][2] == {
        "messages": [
            {"role": "system", "content": "Be short."},
            {"role": "user", "content": "Hi"},
        ],
        "max_tokens": 1,
    }


@pytest.mark.parametrize(
    ("schema", "body"),
    [
        ("completion", {"prompt": "Once", "max_tokens": 9, "stop": ["."], "user": "me"}),
        ("inputs", {"inputs": "Once", "parameters": {"max_new_tokens": 9, "stop": ["."]}}),
    ],
)
def test_the_other_schemas_and_parameters_reach_the_body(
    runtime: Any, schema: str, body: dict[str, Any]
) -> None:
    runtime.will_answer({"generated_text": "x"})
    more = ["-p", "user=me"] if schema == "completion" else []
    arguments = ["chat", "-", "--schema", schema, "--max-tokens", "9", "-p", 'stop=["."]', *more]
    result = run(invoke, runtime, *arguments, given="Once")
    assert result.stdout == "x\n"
    assert runtime.asked[0][2] == body


def test_invoke_prints_the_containers_answer_as_json(runtime: Any) -> None:
    runtime.will_answer(ANSWER)
    result = run(invoke, runtime, "chat", "Hi", "--format", "json", "--extra", "top_a=0.1")
    assert json.loads(result.stdout) == ANSWER
    assert runtime.asked[0][2]["top_a"] == 0.1


def test_stream_prints_text_on_one_side_and_the_rest_on_the_other(runtime: Any) -> None:
    runtime.will_stream(LINES[:70], LINES[70:])
    result = run(stream, runtime, "chat", "Hi", "--adapter", "legal", "--component", "base")
    assert (result.exit_code, result.stdout) == (0, "Hi you\n")
    assert result.stderr.startswith("Hm.")
    assert "first text after" in result.stderr
    assert "2 tokens, finish reason stop" in result.stderr
    assert runtime.asked[0][2]["adapters"] == "legal"
    assert runtime.asked[0][1]["X-Amzn-SageMaker-Inference-Component"] == "base"


def test_stream_prints_every_event_as_json(runtime: Any) -> None:
    runtime.will_stream(LINES)
    result = run(stream, runtime, "chat", "Hi", "--format", "json")
    events = [json.loads(line) for line in result.stdout.splitlines()]
    assert [event["event"] for event in events] == [
        "ReasoningDelta",
        "TextDelta",
        "TextDelta",
        "Finished",
        "Usage",
    ]
    assert events[1] == {"event": "TextDelta", "text": "Hi", "choice": 0}


def test_a_stream_that_breaks_keeps_its_text_and_fails(runtime: Any) -> None:
    runtime.will_stream(LINES[:110])
    result = run(stream, runtime, "chat", "Hi")
    assert (result.exit_code, result.stdout) == (1, "Hi\n")
    assert "what to do: the answer is incomplete" in result.stderr


def test_what_a_formatter_of_the_model_writes_is_printed_as_it_is(runtime: Any) -> None:
    runtime.will_answer({"label": "안녕"})
    assert json.loads(run(invoke, runtime, "chat", "Hi").stdout) == {"label": "안녕"}
    runtime.will_stream(b'{"label": 1}\n{"label"', b": 2}\n")
    assert run(stream, runtime, "chat", "Hi").stdout.split("\n") == [
        '{"label": 1}',
        '{"label": 2}',
        "",
        "",
    ]


@pytest.mark.parametrize("body", [b"", b'""', b'{"choices": [{"message": {"content": ""}}]}'])
def test_an_empty_answer_is_said_to_be_empty(runtime: Any, body: bytes) -> None:
    runtime.will_say(body)
    result = run(invoke, runtime, "chat", "Hi")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "the answer is empty" in result.stderr


def test_a_whole_body_comes_from_a_file(runtime: Any, tmp_path: Any) -> None:
    runtime.will_answer(ANSWER)
    file = tmp_path / "body.json"
    file.write_text('{"messages": [], "odd": 1}')
    assert run(invoke, runtime, "chat", "--body", str(file)).exit_code == 0
    assert runtime.asked[0][2] == {"messages": [], "odd": 1}


@pytest.mark.parametrize("command", [invoke, stream])
@pytest.mark.parametrize(
    ("arguments", "given", "message"),
    [
        (["chat", "--body", "/nowhere.json"], None, "cannot be read"),
        (["chat", "--body", "-"], "{", "no JSON"),
        (["chat", "--body", "-"], "[]", "no JSON object"),
        (["chat", "--body", "-"], "[" * 100_000, "nested too deeply"),
        (["chat", "--body", "-"], b"{\xff}", "not text in UTF-8"),
        (["chat", "-"], b"\xff", "not text in UTF-8"),
        (["chat", "\udcff"], None, "texts in UTF-8"),
        (["chat", "Hi", "--temperature", "nan"], None, "finite numbers"),
        (["chat", "Hi", "--body", "-"], "{}", "either"),
        (["chat", ""], None, "empty"),
        (["chat", "-"], " \n", "empty"),
        (["chat", "Hi", "-p", "stop"], None, "NAME=VALUE"),
        (["chat", "Hi", "-p", "max_token=3"], None, "did you mean max_tokens"),
        (["chat", "Hi", "--extra", 'adapters=["a"]'], None, "one name"),
        (["chat", "Hi", "--schema", "inputs", "--system", "x"], None, "--schema chat"),
        (["", "Hi"], None, "what to do"),
        (["chat", "Hi", "--region", ""], None, "it is empty"),
        ([], None, "Missing argument"),
    ],
)
def test_a_mistake_in_the_command_is_a_message_and_status_2(
    runtime: Any, command: Any, arguments: list[str], given: str | bytes | None, message: str
) -> None:
    result = run(command, runtime, *arguments, given=given)
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert runtime.asked == []


@pytest.mark.parametrize("command", [invoke, stream])
@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (("ValidationError", 400, {"Message": "Endpoint x not found."}), "list-endpoints"),
        (("AccessDeniedException", 403, {"Message": "no"}), "grant_invoke"),
        (
            (
                "ModelError",
                424,
                {"Message": "m", "OriginalStatusCode": 503, "OriginalMessage": "queue is full"},
            ),
            "add instances",
        ),
    ],
)
def test_what_the_endpoint_refuses_is_a_message_and_status_1(
    runtime: Any, command: Any, fault: Any, message: str
) -> None:
    code, status, members = fault
    runtime.will_fail(code, status, **members)
    result = run(command, runtime, "chat", "Hi")
    assert result.exit_code == 1
    assert message in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"AWS_ACCESS_KEY_ID": None}, "sign in to AWS"),
        ({"AWS_DEFAULT_REGION": None}, "--region"),
        ({"AWS_PROFILE": "no-such-profile"}, "AWS_PROFILE"),
        (
            {"AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_MAX_ATTEMPTS": "1"},
            "check the region, the network",
        ),
    ],
)
def test_a_machine_that_is_not_set_up_is_a_message(
    runtime: Any, changed: dict[str, str | None], message: str
) -> None:
    environment = {**runtime.environment, **changed}
    result = CliRunner().invoke(invoke, ["chat", "Hi"], env=environment)
    assert result.exit_code == 1, result.output
    assert message in result.stderr
    assert result.exception is None or isinstance(result.exception, SystemExit)
