"""The root command: the name and one line of help of every subcommand, which is imported only when it is called."""

from __future__ import annotations

import gc
import importlib
from typing import Any, Final

import click
from msgspec import Struct

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
    f"{', '.join(JSON_LINES_COMMANDS)}."
)
COMPLETION_FILES: Final = {
    "bash": "~/.local/share/bash-completion/completions/hallmark",
    "zsh": "_hallmark in a folder of $fpath",
    "fish": "~/.config/fish/completions/hallmark.fish",
    "powershell": "$PROFILE",
    "pwsh": "$PROFILE",
}
"""The file that each shell reads the completion from."""


class Subcommand(Struct, frozen=True):
    """Where the command is (MODULE:NAME below workers.cli), and its line and panel in the list of commands."""

    path: str
    help: str
    panel: str


_INTERRUPTED: Final = 130  # ExitCode.INTERRUPTED, whose module imports Rich
_WORK, _READ, _CARE = "Measure", "Read results", "Administer"

SUBCOMMANDS: Final = {
    "run": Subcommand("measure.run:run", "Discover, collect, score and publish every server of the registries.", _WORK),
    "scan": Subcommand(
        "commands.measure.scan:scan", "Measure one server now and print its verdict and what to fix.", _WORK
    ),
    "retest": Subcommand("measure.retest:retest", "Measure one server again and show what changed.", _WORK),
    "attend": Subcommand(
        "measure.request_worker:attend", "Process requests of the site's visitors where there are no workers.", _WORK
    ),
    "night": Subcommand(
        "measure.nightly:night", "Control nightly runs: start, pause, resume, cancel or publish one.", _WORK
    ),
    "samples": Subcommand("measure.samples:samples", "Test the availability of every remote that is due.", _WORK),
    "list": Subcommand("results.servers:servers", "List the servers of a run with their scores.", _READ),
    "show": Subcommand("results.show:show", "Show the receipts of one server, line by line.", _READ),
    "explain": Subcommand("results.explain:explain", "Explain a rule, a rubric or a server's score.", _READ),
    "status": Subcommand(
        "results.status:status", "Show the status of runs live: stages, outcomes, queues and workers.", _READ
    ),
    "runs": Subcommand("results.runs:runs", "List the runs.", _READ),
    "retests": Subcommand("measure.retests:retests", "List requests for re-tests, newest first.", _READ),
    "findings": Subcommand(
        "results.findings:findings", "Manage findings of our own scans: notification of vendors, disclosure.", _READ
    ),
    "judge": Subcommand(
        "results.judge:judge",
        "Ask a model about the texts of a run's servers, and compare it with our findings.",
        _READ,
    ),
    "rescore": Subcommand(
        "results.rescore:rescore_run", "Score a stored run again, without the network, and print changed scores.", _READ
    ),
    "calibrate": Subcommand(
        "results.calibrate:calibrate", "Show the distribution of a run's scores and propose cut-offs of grades.", _READ
    ),
    "export": Subcommand(
        "results.export:export", "Export a run: as a verifiable dataset, as JSON Lines or as CSV.", _READ
    ),
    "verify": Subcommand(
        "results.verify:verify", "Check a dataset: its files, its signature, and every score recomputed.", _READ
    ),
    "diff": Subcommand(
        "results.diff:diff", "Show changed scores between two snapshots or runs, with their causes.", _READ
    ),
    "report": Subcommand("results.report:report", "Write the newest published run as a static HTML report.", _READ),
    "web": Subcommand("results.web:web", "Serve the site, the API and the badges of published results.", _READ),
    "mcp": Subcommand("results.mcp:mcp", "Serve published results as an MCP server on stdio.", _READ),
    "fleet": Subcommand(
        "administration.fleet:fleet",
        "Start everything that one machine of a fleet runs: the scheduler and workers.",
        _CARE,
    ),
    "registry": Subcommand(
        "administration.registry:registry", "List registries, or check server.json documents.", _CARE
    ),
    "sandbox": Subcommand(
        "administration.sandbox:sandbox", "Build, inspect or remove the sandbox that packages run in.", _CARE
    ),
    "opt-out": Subcommand(
        "administration.opt_outs:app", "Manage opt-outs: domains, hosts and servers that are never contacted.", _CARE
    ),
    "disputes": Subcommand("administration.disputes:app", "Manage disputed lines: accept or answer them.", _CARE),
    "control": Subcommand("administration.control:app", "Manage claims of control, and the webhooks of owners.", _CARE),
    "tokens": Subcommand("administration.tokens:app", "Make and revoke API tokens for operators.", _CARE),
    "audit": Subcommand("administration.audit:audit", "List the decisions of operators and owners.", _CARE),
    "advisories": Subcommand(
        "administration.advisories:advisories", "Maintain the local mirror of published advisories.", _CARE
    ),
    "lab": Subcommand("lab.command:lab", "Try lockfile readers and pattern scanners on your own files.", _CARE),
    "key": Subcommand(
        "administration.signing_key:key", "Make a key that signs datasets, or show its public key.", _CARE
    ),
    "compact": Subcommand(
        "administration.compact:compact", "Delete old evidence, except one complete run a week; receipts remain.", _CARE
    ),
    "doctor": Subcommand(
        "administration.doctor:doctor", "Check this installation and say how to fix what is missing.", _CARE
    ),
    "settings": Subcommand("administration.settings:settings", "Show every setting with its value and meaning.", _CARE),
    "version": Subcommand(
        "administration.version:version", "Show the versions of the code, rules, rubrics and formats.", _CARE
    ),
}


class _Lazy(click.Command):
    """A placeholder in the list of commands, which imports the real subcommand when it is called."""

    def __init__(self, name: str, subcommand: Subcommand) -> None:
        super().__init__(name, help=subcommand.help)
        self._path = subcommand.path

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        return load_command(self._path).make_context(info_name, args, parent=parent, **extra)


class _Root(click.Group):
    """The group of all subcommands, in the order of SUBCOMMANDS."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, commands={name: _Lazy(name, one) for name, one in SUBCOMMANDS.items()})

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """One section for each panel."""
        for panel in (_WORK, _READ, _CARE):
            with formatter.section(panel):
                formatter.write_dl([(name, one.help) for name, one in SUBCOMMANDS.items() if one.panel == panel])

    def invoke(self, ctx: click.Context) -> Any:
        """End with code 130 after Ctrl-C, as shells expect; Click ends with 1."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise click.exceptions.Exit(_INTERRUPTED) from error


def load_command(path: str) -> click.Command:
    """The real command of a subcommand."""
    module, _, name = path.partition(":")
    command: click.Command = getattr(importlib.import_module(f"workers.cli.{module}"), name)
    if not gc.isenabled():
        gc.freeze()  # imported modules live as long as the process, so no later collection has to visit them
        collect_garbage_rarely()  # most commands import their work when they run
        gc.enable()
    return command


def _show_version(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        from workers.settings.environment import read_code_version  # noqa: PLC0415  the overview imports nothing heavy

        click.echo(f"hallmark {read_code_version()}")
        ctx.exit()


def _show_completion(ctx: click.Context, _: click.Parameter, shell: str | None) -> None:
    """Print the completion of a shell, and where to write it."""
    if shell is None or ctx.resilient_parsing:
        return
    from click.shell_completion import get_completion_class  # noqa: PLC0415  the overview does not need it

    completion = get_completion_class("powershell" if shell == "pwsh" else shell)
    assert completion is not None
    click.echo(completion(ctx.command, {}, "hallmark", "_HALLMARK_COMPLETE").source())
    click.echo(f"To install it, write this output to {COMPLETION_FILES[shell]}, and start a new shell.", err=True)
    ctx.exit()


@click.group(
    cls=_Root,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_show_version,
    help="Show the version and exit.",
)
@click.option(
    "--show-completion",
    type=click.Choice(list(COMPLETION_FILES)),
    expose_value=False,
    is_eager=True,
    callback=_show_completion,
    metavar="SHELL",
    help="Print the completion of commands for bash, zsh, fish, powershell or pwsh, and exit.",
)
def app() -> None:
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
