"""What kernel.js runs in Pyodide: IPython's shell, which sends as messages what a cell shows."""

import io
import json
import os
import sys

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config


def start(send):
    """Return the function that runs the code of a cell; ``send`` takes a message as JSON."""

    def tell(kind, **content):
        send(json.dumps({"header": {"msg_type": kind}, "content": content}))

    class Stream(io.TextIOBase):
        def __init__(self, name):
            self.name = name

        def write(self, text):
            tell("stream", name=self.name, text=text)
            return len(text)

    class Publisher(DisplayPublisher):
        def publish(self, data, metadata=None, *, transient=None, update=False, **_):
            kind = "update_display_data" if update else "display_data"
            tell(kind, data=data, metadata=metadata or {}, transient=transient or {})

        def clear_output(self, wait=False):
            tell("clear_output", wait=wait)

    class Hook(DisplayHook):
        def write_output_prompt(self):
            """Write nothing: a page has no prompts."""

        def write_format_data(self, format_dict, md_dict=None):
            tell("execute_result", data=format_dict, metadata=md_dict or {}, execution_count=None)

        def finish_displayhook(self):
            """Write nothing after a result."""

    class Shell(InteractiveShell):
        def _showtraceback(self, etype, evalue, stb):
            tell("error", ename=etype.__name__, evalue=str(evalue), traceback=stb)

    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    config = Config({"HistoryManager": {"enabled": False}})
    shell = Shell.instance(config=config, displayhook_class=Hook, display_pub_class=Publisher)
    sys.stdout, sys.stderr = Stream("stdout"), Stream("stderr")

    def execute(code):
        shell.run_cell(code, store_history=True)
        tell("execute_reply", execution_count=shell.execution_count - 1)

    return execute
