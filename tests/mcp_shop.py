"""An MCP server for tests: over stdio as a program, over HTTP in a thread, or in this process.

It writes the name of each call to a log, so that a test can tell what reached it.
"""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import anyio
import uvicorn
from mcp import StdioServerParameters
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, SamplingMessage, TextContent, ToolAnnotations

READS = ToolAnnotations(read_only_hint=True)
WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=True)


class Log:
    """What reached the server, in order; of a program ``start`` too."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __call__(self, name: str) -> int:
        with self.path.open("a") as file:
            file.write(f"{name}\n")
        return len(self.names)

    @property
    def names(self) -> list[str]:
        return self.path.read_text().split() if self.path.exists() else []


def shop(log: Log, name: str = "shop") -> MCPServer:
    server = MCPServer(name, log_level="CRITICAL")

    @server.tool(annotations=READS)
    def stock(item: str) -> int:
        """How many there are: another number each time, so that nobody can guess it."""
        return log("stock") * 10

    @server.tool(annotations=WRITES)
    def reserve(item: str) -> str:
        """Reserves one."""
        return f"{name} reserved {item} as {log('reserve')}"

    @server.tool()
    def ring(times: int = 1) -> str:
        """Says nothing of what it does."""
        return f"rang {times} at {log('ring')}"

    @server.tool(annotations=READS)
    def refuse() -> str:
        """Fails."""
        log("refuse")
        raise ValueError("not today")

    @server.tool(annotations=READS)
    def broken() -> str:
        """Fails in the protocol."""
        log("broken")
        raise MCPError(code=-32050, message="out of order", data={"since": 3})

    @server.tool(annotations=READS)
    async def wait() -> str:
        """Answers never."""
        log("wait")
        await anyio.sleep_forever()
        return "late"

    @server.tool(annotations=READS)
    async def consult(context: Context) -> str:
        """Asks the model of its client."""
        log("consult")
        message = SamplingMessage(role="user", content=TextContent(type="text", text="well?"))
        reply = await context.session.create_message([message], max_tokens=5)
        return f"it says {reply.content.text}"

    @server.tool(annotations=READS)
    def rich() -> CallToolResult:
        """Gives all that a result can hold."""
        log("rich")
        return CallToolResult(
            content=[TextContent(type="text", text="a"), TextContent(type="text", text="b", annotations=None)],
            structured_content={"n": None, "list": [1.5, True]},
            _meta={"shop/trace": "x"},
        )

    @server.resource("shop://hours")
    def hours() -> str:
        """When it is open."""
        return f"open at {log('hours')}"

    return server


def program(log: Log, *more: str) -> StdioServerParameters:
    """The shop as a program."""
    return StdioServerParameters(command=sys.executable, args=[__file__, str(log.path), *more])


@contextmanager
def served(app):
    """An app on 127.0.0.1, in a thread; gives its address."""
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="critical", ws="none"))
    started = threading.Event()
    startup = server.startup

    async def tell(*args, **kwargs):
        await startup(*args, **kwargs)
        started.set()

    server.startup = tell
    thread = threading.Thread(target=server.run)
    thread.start()
    assert started.wait(20)
    try:
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = server.force_exit = True
        thread.join(20)


if __name__ == "__main__":
    the_log = Log(Path(sys.argv[1]))
    the_log("start")
    shop(the_log, *sys.argv[2:3]).run("stdio")
