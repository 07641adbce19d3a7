"""The root command: the name and one line of help of every subcommand, which is imported only when it is called."""

from __future__ import annotations

import gc
import importlib
import inspect
from typing import Annotated, Any, Final

import typer
import typer.completion
from msgspec import Struct
from typer.core import TyperCommand, TyperGroup

from evidence.garbage import collect_garbage_rarely

JSON_DOCUMENT_COMMANDS: Final = (
    "scan",
    "retest",
    "samples",
    "calibrate",
    "judge",
    "compact",
    "show",
    "sandbox",
    "version",
    "verify",
)
"""Commands whose --json is one document; that of every other command is JSON Lines."""

JSON_LINES_COMMANDS: Final = (
    "run",
    "list",
    "runs",
    "retests",
    "night",
    "status",
    "fleet",
    "explain",
    "rescore",
    "registry",
    "doctor",
    "settings",
    "lab",
    "findings",
    "advisories",
    "opt-out",
    "diff",
    "disputes",
    "tokens",
    "audit",
    "control",
)

EPILOG: Final = (
    "First run: hallmark run, then hallmark list and hallmark show SERVER. "
    "Exit codes: 0 done, 1 Hallmark failed, 2 wrong usage, 3 nothing could be measured, "
    "4 a score is below the requested minimum, 130 interrupted. "
    f"--json is one document for {', '.join(JSON_DOCUMENT_COMMANDS)}; JSON Lines, one object per line, for "
    f"{', '.join(JSON_LINES_COMMANDS)}. "
    "If your shell is not recognised, name it: --show-completion bash."
)
SHELLS: Final = ("bash", "zsh", "fish", "powershell", "pwsh")


class Subcommand(Struct, frozen=True):
    """The module of a subcommand, and its line and panel in the list of commands."""

    module: str
    help: str
    panel: str


_WORK, _READ, _CARE = "Measure", "Read results", "Administer"

SUBCOMMANDS: Final = {
    "run": Subcommand("measure.run", "Discover, collect, score and publish every server of the registries.", _WORK),
    "scan": Subcommand("commands.measure.scan", "Measure one server now and print its verdict and what to fix.", _WORK),
    "retest": Subcommand("measure.retest", "Measure one server again and show what changed.", _WORK),
    "attend": Subcommand(
        "measure.request_worker", "Process requests of the site's visitors where there are no workers.", _WORK
    ),
    "night": Subcommand("measure.nightly", "Control nightly runs: start, pause, resume, cancel or publish one.", _WORK),
    "samples": Subcommand("measure.samples", "Test the availability of every remote that is due.", _WORK),
    "list": Subcommand("results.servers", "List the servers of a run with their scores.", _READ),
    "show": Subcommand("results.show", "Show the receipts of one server, line by line.", _READ),
    "explain": Subcommand("results.explain", "Explain a rule, a rubric or a server's score.", _READ),
    "status": Subcommand(
        "results.status", "Show the status of runs live: stages, outcomes, queues and workers.", _READ
    ),
    "runs": Subcommand("results.runs", "List the runs.", _READ),
    "retests": Subcommand("measure.retests", "List requests for re-tests, newest first.", _READ),
    "findings": Subcommand(
        "results.findings", "Manage findings of our own scans: notification of vendors, disclosure.", _READ
    ),
    "judge": Subcommand(
        "results.judge", "Ask a model about the texts of a run's servers, and compare it with our findings.", _READ
    ),
    "rescore": Subcommand(
        "results.rescore", "Score a stored run again, without the network, and print changed scores.", _READ
    ),
    "calibrate": Subcommand(
        "results.calibrate", "Show the distribution of a run's scores and propose cut-offs of grades.", _READ
    ),
    "export": Subcommand("results.export", "Export a run: as a verifiable dataset, as JSON Lines or as CSV.", _READ),
    "verify": Subcommand(
        "results.verify", "Check a dataset: its files, its signature, and every score recomputed.", _READ
    ),
    "diff": Subcommand("results.diff", "Show changed scores between two snapshots or runs, with their causes.", _READ),
    "report": Subcommand("results.report", "Write the newest published run as a static HTML report.", _READ),
    "web": Subcommand("results.web", "Serve the site, the API and the badges of published results.", _READ),
    "mcp": Subcommand("results.mcp", "Serve published results as an MCP server on stdio.", _READ),
    "fleet": Subcommand(
        "administration.fleet", "Start everything that one machine of a fleet runs: the scheduler and workers.", _CARE
    ),
    "registry": Subcommand("administration.registry", "List registries, or check server.json documents.", _CARE),
    "sandbox": Subcommand(
        "administration.sandbox", "Build, inspect or remove the sandbox that packages run in.", _CARE
    ),
    "opt-out": Subcommand(
        "administration.opt_outs", "Manage opt-outs: domains, hosts and servers that are never contacted.", _CARE
    ),
    "disputes": Subcommand("administration.disputes", "Manage disputed lines: accept or answer them.", _CARE),
    "control": Subcommand("administration.control", "Manage claims of control, and the webhooks of owners.", _CARE),
    "tokens": Subcommand("administration.tokens", "Make and revoke API tokens for operators.", _CARE),
    "audit": Subcommand("administration.audit", "List the decisions of operators and owners.", _CARE),
    "advisories": Subcommand("administration.advisories", "Maintain the local mirror of published advisories.", _CARE),
    "lab": Subcommand("lab.command", "Try lockfile readers and pattern scanners on your own files.", _CARE),
    "key": Subcommand("administration.signing_key", "Make a key that signs datasets, or show its public key.", _CARE),
    "compact": Subcommand(
        "administration.compact", "Delete old evidence, except one complete run a week; receipts remain.", _CARE
    ),
    "doctor": Subcommand("administration.doctor", "Check this installation and say how to fix what is missing.", _CARE),
    "settings": Subcommand("administration.settings", "Show every setting with its value and meaning.", _CARE),
    "version": Subcommand(
        "administration.version", "Show the versions of the code, rules, rubrics and formats.", _CARE
    ),
}


class _Lazy(TyperCommand):
    """A placeholder in the list of commands, which imports the real subcommand when it is called."""

    def __init__(self, name: str, subcommand: Subcommand) -> None:
        super().__init__(name, help=subcommand.help, rich_help_panel=subcommand.panel)
        self._module = subcommand.module

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        return load_command(self._module).make_context(info_name, args, parent=parent, **extra)


class _Root(TyperGroup):
    """The group of all subcommands, in the order of SUBCOMMANDS."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = {name: _Lazy(name, subcommand) for name, subcommand in SUBCOMMANDS.items()}

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """One section for each panel. Rich, which Typer would use for panels, takes longer to import than all else."""
        for panel in (_WORK, _READ, _CARE):
            with formatter.section(panel):
                formatter.write_dl([(name, one.help) for name, one in SUBCOMMANDS.items() if one.panel == panel])

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Accept the name of a shell after a completion option; Typer only detects it from the parent process."""
        match args:
            case [("--show-completion" | "--install-completion") as option, str(shell)] if not shell.startswith("-"):
                _complete(ctx, option, shell)
        return super().parse_args(ctx, args)


def load_command(module: str) -> Any:
    """The real command of a subcommand's module."""
    command = typer.main.get_command(importlib.import_module(f"workers.cli.{module}").app)
    if not gc.isenabled():
        gc.freeze()  # imported modules live as long as the process, so no later collection has to visit them
        collect_garbage_rarely()  # most commands import their work when they run
        gc.enable()
    _simplify(command)
    return command


def _simplify(command: Any) -> None:
    """Show the help without Rich, as the overview does, and let the terminal decide where its lines end.

    Typer joins the lines of the first paragraph only, and cuts the line of a subcommand in the list of a group.
    """
    command.rich_markup_mode = None
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    command.short_help, *_ = joined = [" ".join(paragraph.split("\n")) for paragraph in paragraphs]
    command.help = "\n\n".join(joined)
    for each in getattr(command, "commands", {}).values():
        _simplify(each)


def _complete(ctx: Any, option: str, shell: str) -> None:
    """Print or install the completion of a shell, and end."""
    if shell not in SHELLS:
        raise typer.BadParameter(f"expected one of {', '.join(SHELLS)}; found {shell!r}", ctx=ctx, param_hint=option)
    if option == "--show-completion":
        typer.completion.show_callback(ctx, ctx.command.params[0], shell)
    else:
        typer.completion.install_callback(ctx, ctx.command.params[0], shell)


app = typer.Typer(
    name="hallmark",
    cls=_Root,
    no_args_is_help=True,
    epilog=EPILOG,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        from workers.settings.environment import read_code_version  # noqa: PLC0415  the overview imports nothing heavy

        typer.echo(f"hallmark {read_code_version()}")
        raise typer.Exit


@app.callback()
def hallmark(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Measure MCP servers: crawl registries, collect evidence, score it, and explain every score."""


def main() -> None:
    gc.disable()  # until a command is imported: garbage collection takes a quarter of the start time
    try:
        app(prog_name="hallmark")
    except ModuleNotFoundError as error:
        from workers.cli.extras import explain_missing_extra  # noqa: PLC0415

        explain_missing_extra(error)
    finally:
        gc.freeze()  # the collections at the end of the process would visit everything: a tenth of a short command
        gc.enable()
