"""Parameters of a request, as vLLM's OpenAI-compatible server and the container document them.

What is not listed goes into a request's `extra`, unchanged. Sources: the request classes of vLLM's
OpenAI-compatible server, and djl-serving@d21927c4 serving/docs/lmi/user_guides
(lmi_input_output_schema.md, chat_input_output_schema.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class SamplingParameters(TypedDict, total=False):
    """How the next token is chosen; common to chats and completions.

    Attributes:
        temperature: 0 always takes the most likely token.
        top_p: Share of the probability that is drawn from.
        top_k: Number of tokens that are drawn from.
        min_p: Least probability, relative to the most likely token.
        seed: Makes draws repeatable.
        repetition_penalty: Above 1, tokens that were seen before become less likely.
        frequency_penalty: Lowers tokens by how often they were generated.
        presence_penalty: Lowers tokens that were generated at all.
        logit_bias: Added to tokens' scores, by token id.
        stop: Texts that end the answer; they are not part of it.
        stop_token_ids: Tokens that end the answer.
        include_stop_str_in_output: Whether a stop text is part of the answer.
        ignore_eos: Whether to go on after the model's end token.
        min_tokens: Least tokens of the answer.
        max_tokens: Most tokens of the answer.
        n: Number of answers.
        skip_special_tokens: Whether the model's special tokens are left out.
        structured_outputs: vLLM's own form of constraints on the answer.
        priority: Scheduling priority, if the engine schedules by priority.
        user: Name of the end user.
    """

    temperature: float
    top_p: float
    top_k: int
    min_p: float
    seed: int
    repetition_penalty: float
    frequency_penalty: float
    presence_penalty: float
    logit_bias: Mapping[str, float]
    stop: str | Sequence[str]
    stop_token_ids: Sequence[int]
    include_stop_str_in_output: bool
    ignore_eos: bool
    min_tokens: int
    max_tokens: int
    n: int
    skip_special_tokens: bool
    structured_outputs: Mapping[str, Any]
    priority: int
    user: str


class ChatParameters(SamplingParameters, total=False):
    """Parameters of a chat.

    Attributes:
        max_completion_tokens: Newer name of `max_tokens`.
        tools: Tools that the model may call; needs `enable_auto_tool_choice` and a parser.
        tool_choice: `auto`, `none`, `required` or a certain tool.
        parallel_tool_calls: Whether several calls may come at once.
        response_format: Form of the answer, such as a JSON schema.
        logprobs: Whether tokens' log-probabilities are told.
        top_logprobs: For how many tokens at each place.
        reasoning_effort: How much a reasoning model thinks.
        chat_template_kwargs: Variables of the model's chat template, such as `enable_thinking`.
        add_generation_prompt: Whether the answer begins a new message.
        continue_final_message: Whether the answer goes on with the last message.
    """

    max_completion_tokens: int
    tools: Sequence[Mapping[str, Any]]
    tool_choice: str | Mapping[str, Any]
    parallel_tool_calls: bool
    response_format: Mapping[str, Any]
    logprobs: bool
    top_logprobs: int
    reasoning_effort: str
    chat_template_kwargs: Mapping[str, Any]
    add_generation_prompt: bool
    continue_final_message: bool


class CompletionParameters(SamplingParameters, total=False):
    """Parameters of a completion.

    Attributes:
        echo: Whether the answer begins with the prompt.
        logprobs: For how many tokens at each place log-probabilities are told.
        best_of: Answers that are generated to choose from, on engines that have it.
        suffix: Text after the answer, for models that fill in.
        response_format: Form of the answer, such as a JSON schema.
        truncate_prompt_tokens: Keep only so many last tokens of the prompt.
    """

    echo: bool
    logprobs: int
    best_of: int
    suffix: str
    response_format: Mapping[str, Any]
    truncate_prompt_tokens: int


class GenerationParameters(TypedDict, total=False):
    """Parameters of a body with `inputs`, as Text Generation Inference names them.

    Attributes:
        max_new_tokens: Most tokens of the answer. The container's default is only 30.
        do_sample: `False` always takes the most likely token.
        temperature: Above 0.
        top_k: Number of tokens that are drawn from.
        top_p: Share of the probability that is drawn from.
        seed: Makes draws repeatable.
        repetition_penalty: Above 1, tokens that were seen before become less likely.
        return_full_text: Whether the answer begins with the prompt.
        stop_sequences: Texts that end the answer (rolling batch).
        stop: Texts that end the answer (asynchronous handler, handed on to vLLM).
        details: Whether finish reason and tokens are told.
        decoder_input_details: Whether the prompt's tokens are told too; needs `details`.
        truncate: Keep only so many last tokens of the prompt.
        top_n_tokens: The asynchronous handler takes this as the number of answers.
        ignore_eos_token: Whether to go on after the model's end token.
    """

    max_new_tokens: int
    do_sample: bool
    temperature: float
    top_k: int
    top_p: float
    seed: int
    repetition_penalty: float
    return_full_text: bool
    stop_sequences: Sequence[str]
    stop: Sequence[str]
    details: bool
    decoder_input_details: bool
    truncate: int
    top_n_tokens: int
    ignore_eos_token: bool
