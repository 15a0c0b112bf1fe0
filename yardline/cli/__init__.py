"""The command line. Errors are one line and an exit code; nothing heavy is imported before a command needs it."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

import typer

from yardline.cli import commands, comparing
from yardline.cli.output import fail, verbose

app = typer.Typer(
    name="yardline",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="How far is a publish/subscribe dissemination plan from the best possible one? Plans, certified bounds, gaps.",
)
for command in (*commands.COMMANDS, comparing.compare, comparing.reproduce):
    app.command(name=command.__name__.rstrip("_"))(command)

UsageError: type[typer.BadParameter] = typer.BadParameter.__mro__[1]


@app.callback(invoke_without_command=True)
def _top(version: bool = typer.Option(False, "--version", help="Print the version and stop.")) -> None:
    if version:
        from yardline import __version__

        print(__version__)
        raise typer.Exit


def main() -> NoReturn:
    """Run a command; every error becomes one line on stderr and an exit code."""
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
    except UsageError as error:
        fail(2, error.format_message())
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # whoever read us has gone
        sys.exit(0)
    except (KeyboardInterrupt, typer.Abort):
        fail(130, "interrupted")
    except Exception as error:
        _explained(error)
    sys.exit(code if isinstance(code, int) else 0)


def _explained(error: Exception) -> NoReturn:
    """Bad input and missing parts in one line; a bug of ours says that it is one."""
    if verbose():
        import traceback

        traceback.print_exc()
    from yardline.models.method import Unavailable
    from yardline.results import Contradiction, MethodFailed

    if isinstance(error, MethodFailed):
        fail(2, str(error) + (f"\n{error.details}" if verbose() else " (-v shows where)"))
    if isinstance(error, Contradiction):
        fail(70, f"bug: {error}")
    if isinstance(error, (ValueError, Unavailable)):
        fail(2, str(error))
    if isinstance(error, OSError):
        fail(2, f"{error.filename or 'file'}: {error.strerror or error}")
    fail(70, f"bug: {type(error).__name__}: {error} (-v shows where; please report it)")
