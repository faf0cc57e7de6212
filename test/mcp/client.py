"""The official Python client of MCP in short: it validates the arguments and the result of each call with jsonschema,
which compiles patterns with re. Makes calls in turn, and prints their results by the name of the tool."""

import json
import re
import sys
import urllib.request

import jsonschema
from jsonschema.validators import validator_for

given = json.load(sys.stdin)


def send(method, params=None, id=None):
    message = {"jsonrpc": "2.0", "method": method, "params": params or {}}
    if id is not None:
        message["id"] = id
    headers = {
        "Authorization": f"Bearer {given['apiKey']}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": given["revision"],
    }
    request = urllib.request.Request(f"{given['url']}/mcp", json.dumps(message).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        body = answer.read().decode()
    if id is None:
        return None
    lines = [line[6:] for line in body.splitlines() if line.startswith("data: {")]
    answered = json.loads(lines[-1] if lines else body)
    if "error" in answered:
        sys.exit(f"{method} is refused: {answered['error']}")
    return answered["result"]


def check_patterns(schema):
    if isinstance(schema, list):
        for each in schema:
            check_patterns(each)
    elif isinstance(schema, dict):
        if isinstance(schema.get("pattern"), str):
            re.compile(schema["pattern"])
        for each in schema.values():
            check_patterns(each)


def check_schema(schema):
    check_patterns(schema)
    validator_for(schema, jsonschema.Draft202012Validator).check_schema(schema)


client = {"protocolVersion": given["revision"], "capabilities": {}, "clientInfo": {"name": "python", "version": "1"}}
send("initialize", client, 1)
send("notifications/initialized")
tools = {tool["name"]: tool for tool in send("tools/list", {}, 2)["tools"]}
for tool in tools.values():
    check_schema(tool["inputSchema"])
    check_schema(tool["outputSchema"])

results = {}
for number, (name, arguments) in enumerate(given["calls"]):
    # The run that an earlier call made.
    if arguments.get("run_id") == "run_model":
        arguments["run_id"] = results["run_model"]["run_id"]
    jsonschema.validate(arguments, tools[name]["inputSchema"], jsonschema.Draft202012Validator)
    result = send("tools/call", {"name": name, "arguments": arguments}, number + 3)
    if result.get("isError"):
        sys.exit(f"{name} fails: {result['content']}")
    jsonschema.validate(result["structuredContent"], tools[name]["outputSchema"], jsonschema.Draft202012Validator)
    results[name] = result["structuredContent"]
print(json.dumps({"tools": list(tools), "results": results}))
