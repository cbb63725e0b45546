"""What tests of the client share."""

from __future__ import annotations

LINES = (
    '{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\n\n'
    '{"choices":[{"index":0,"delta":{"reasoning":"음"}}]}\n'
    '{"choices":[{"index":0,"delta":{"content":"안녕"}}]}\n'
    '{"choices":[{"index":0,"delta":{"content":" 🦙"},"finish_reason":"stop"}]}\n'
    '{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}\n\n'
).encode()
"""A streamed chat as the container sends it: JSON lines, reasoning, usage at the end."""

CHAT = {
    "object": "chat.completion",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": '{"city": "서울"}',
                "reasoning_content": "Hm.",
                "tool_calls": [
                    {"id": "c1", "function": {"name": "look", "arguments": '{"at": 1}'}}
                ],
            },
            "finish_reason": "stop",
        }
    ],
    "usage": {
        "prompt_tokens": 7,
        "completion_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 4},
    },
}
