"""Every Python block runs; every command exists with its options; the tutorial does what it says."""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
import sys
from importlib import resources
from pathlib import Path

import click
import pytest
from sybil import Sybil
from sybil.evaluators.python import PythonEvaluator
from sybil.parsers.markdown import CodeBlockParser, SkipParser

from replay.cli import main
from tests.docs.documents import FIRST, PAGES, ROOT, TUTORIALS, blocks, commands, inline_code, name_of, transcript

_FILE = re.compile(r"# (?P<name>\w+\.(?:py|yaml))\n")
_AS_SHOWN = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def run_python(example):
    """Run a block in the page's namespace; one that begins with ``# NAME.py`` is a file of the reader's."""
    if named := _FILE.match(example.parsed):
        compile(example.parsed, named["name"], "exec")
        Path(named["name"]).write_text(example.parsed)
        return
    PythonEvaluator()(example)


def run_yaml(example):
    """A block that begins with ``# NAME.yaml`` is a file of the reader's."""
    if named := _FILE.match(example.parsed):
        Path(named["name"]).write_text(example.parsed)


def run_diff(example):
    """Replace the lines with a minus, which stand together in the file that the first line names, by the others."""
    head, *lines = example.parsed.splitlines(keepends=True)
    file = Path(head.removeprefix("--- ").strip())
    gone, new = ("".join(line[1:] for line in lines if line[0] == sign) for sign in "-+")
    text = file.read_text()
    assert text.count(gone) == 1, f"{file} does not hold once:\n{gone}"
    file.write_text(text.replace(gone, new))


def run_console(example):
    """Run the commands of a block, and compare what they print, with ``...`` for what was left out."""
    code = 0
    for command, shown in transcript(example.parsed):
        if command == "echo $?":
            assert shown.strip() == str(code)
            code = 0
            continue
        assert code == 0, f"the command before `{command}` ended with {code}"
        done = subprocess.run(
            _argv(command), check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120
        )
        code = done.returncode
        if not doctest.OutputChecker().check_output(shown, done.stdout, _AS_SHOWN):
            pytest.fail(f"$ {command}\n--- shown\n{shown}\n--- printed\n{done.stdout}", pytrace=False)
    assert code == 0, f"`{command}` ended with {code}; show it with `echo $?`"


def _argv(command):
    program, *arguments = shlex.split(command)
    started = {"trialtape": [sys.executable, "-m", "replay"], "python": [sys.executable]}
    return [*started[program], *arguments]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_code_blocks_run(page, folder):
    parsers = [CodeBlockParser("python", run_python), CodeBlockParser("yaml", run_yaml), SkipParser()]
    if page in TUTORIALS:
        parsers += [CodeBlockParser("console", run_console), CodeBlockParser("diff", run_diff)]
    document = Sybil(parsers, path=str(ROOT), filenames=[page.name]).parse(page)
    for example in document.examples():
        example.evaluate()


def test_what_the_tutorial_shows_of_the_suite_is_what_is_written():
    shown = [block for block in blocks(FIRST, "python") if not _FILE.match(block)]
    written = resources.files("replay.orchestration").joinpath("starter", "suite.py.txt").read_text()
    assert len(shown) == 2
    for block in shown:
        assert block in written


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_exist(page):
    for words in commands(page):
        if words[0] == "trialtape":
            _parse(words[1:])
        elif words[0] == "make":
            assert words[1:], f"name the target: {words}"
            for target in words[1:]:
                assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE), target


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_named_in_the_text_exist(page):
    for code in inline_code(page):
        words = code.split()
        if words[0] != "trialtape" or len(words) == 1:
            continue
        command, known, rest = main, set(), iter(words[1:])
        for word in rest:
            if word == "--":
                break  # a program follows
            options = {name: o for o in command.get_params(click.Context(command)) for name in o.opts}
            known |= {*options, "--help", "-h"}
            if word.startswith("-"):
                assert word in known, code
                if isinstance(command, click.Group) and word in options and not options[word].is_flag:
                    next(rest, None)
            elif isinstance(command, click.Group):
                command = command.get_command(click.Context(command), word)
                assert command is not None, code


def _parse(words):
    """Parse the arguments as the command line would, and run nothing.

    Raises:
        click.UsageError: a command, an option or a value does not exist.
    """
    command, context = main, click.Context(main, info_name="trialtape")
    while isinstance(command, click.Group):
        _, words, _ = command.make_parser(context).parse_args(list(words))
        if not words:
            return  # --help and --version
        name, command, words = command.resolve_command(context, words)
        context = click.Context(command, info_name=name, parent=context)
    if "--help" not in words:
        command.make_context(context.info_name, list(words), parent=context.parent)
