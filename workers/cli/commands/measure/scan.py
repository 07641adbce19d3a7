"""The options of `hallmark scan`."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand

from workers.cli.measure.scan_options import FailOn, Format
from workers.cli.options import Rubrics

app = typer.Typer(add_completion=False)

_COMMAND: Final = "hallmark.command"


def _points(text: str) -> Decimal:
    try:
        points = Decimal(text)
    except InvalidOperation:
        points = Decimal("NaN")
    if not points.is_finite():
        raise typer.BadParameter(f"expected a number such as 75, found {text!r}")
    return points


class _ScanCommand(TyperCommand):
    """Separates the words after `--`, which are the command line of the server."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if "--" in args:
            cut = args.index("--")
            ctx.meta[_COMMAND] = args[cut + 1 :]
            args = args[:cut]
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "[-- COMMAND ...]"]


@app.command(cls=_ScanCommand)
def scan(
    ctx: typer.Context,
    *,
    target: Annotated[
        str | None,
        typer.Argument(
            help="A URL, npm:NAME[@VERSION], pypi:NAME[==VERSION], oci:IMAGE, the folder of a project, a .tgz, .tar.gz "
            "or .whl file, or a server.json."
        ),
    ] = None,
    source: Annotated[
        Path | None, typer.Option("--from", metavar="FILE", help="Score saved evidence or a capture offline.")
    ] = None,
    rubric: Rubrics = None,
    fail_under: Annotated[
        Decimal | None,
        typer.Option(
            parser=_points,
            metavar="N",
            help="Exit 4 when a chosen rubric (or the default) scores below N or has too little evidence.",
        ),
    ] = None,
    fail_on: Annotated[
        list[FailOn] | None,
        typer.Option(
            "--fail-on",
            help="Exit 4 when a MUST, or also a SHOULD, of the protocol is violated (must, should), or when there is a "
            "finding of this severity or above (high, medium, low). Repeatable. Default: never.",
        ),
    ] = None,
    baseline: Annotated[
        Path | None,
        typer.Option("--baseline", metavar="FILE", help="Accept the findings in this file; report stale entries."),
    ] = None,
    write_baseline: Annotated[
        Path | None,
        typer.Option(
            "--write-baseline", metavar="FILE", help="Accept all findings of now in this file; known reasons stay."
        ),
    ] = None,
    allow_private: Annotated[
        bool, typer.Option("--allow-private", help="Also contact loopback and private addresses.")
    ] = False,
    no_sandbox: Annotated[
        bool, typer.Option("--no-sandbox", help="Run the command after -- without a sandbox, with all your rights.")
    ] = False,
    network: Annotated[
        list[str] | None,
        typer.Option(
            metavar="allow:HOST[:PORT]|stub:HOST[:PORT]",
            help="Let the server in the sandbox reach this host over TLS, through a proxy named in its environment, or "
            "answer for the host with an empty JSON object. Repeatable. Default: no network.",
        ),
    ] = None,
    anyway: Annotated[bool, typer.Option("--anyway", help="Also contact a server that has opted out.")] = False,
    full: Annotated[
        bool,
        typer.Option("--full/--core", help="Send all test requests (at most 65), or those of a nightly run (7)."),
    ] = True,
    official_client: Annotated[
        bool, typer.Option("--official-client", help="Also connect with the official SDK's client (10 requests more).")
    ] = False,
    deadline: Annotated[
        float | None,
        typer.Option(
            min=1,
            metavar="SECONDS",
            help="Stop after this time and score what was collected. Installing a package has its own limits. "
            "Default: 60, for a project 180.",
        ),
    ] = None,
    save_to: Annotated[
        Path | None,
        typer.Option(
            "--save",
            "--transcript",
            metavar="FILE",
            help="Save requests and answers, to score them again with --from.",
        ),
    ] = None,
    evidence: Annotated[bool, typer.Option("--evidence", help="Like --verbose, plus all observations.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Print the receipts of all methodologies and every check.")
    ] = False,
    form: Annotated[Format, typer.Option("--format", help="Format of the output on stdout.")] = Format.TEXT,
    as_json: Annotated[
        bool, typer.Option("--json", help="The same as --format json; docs/schemas/scan.json describes it.")
    ] = False,
    sarif_file: Annotated[
        Path | None, typer.Option("--sarif", metavar="FILE", help="Also write the findings as SARIF 2.1.0.")
    ] = None,
    junit_file: Annotated[
        Path | None, typer.Option("--junit", metavar="FILE", help="Also write the verdict of every check as JUnit XML.")
    ] = None,
) -> None:
    """Measure one server now and print its verdict and what to fix. Nothing is stored unless you give --save.

    --verbose prints the receipts of all methodologies and every check, --rubric those of one methodology.

    Examples:

    hallmark scan https://example.com/mcp

    hallmark scan npm:@modelcontextprotocol/server-everything --rubric lint

    hallmark scan http://127.0.0.1:8000/mcp --allow-private

    hallmark scan -- python server.py

    hallmark scan ./my-server --fail-on high --baseline hallmark-baseline.json --sarif hallmark.sarif

    hallmark scan ./my-server -- node dist/index.js --stdio

    hallmark scan npm:my-server --network allow:api.example.com

    hallmark scan https://example.com/mcp --core

    hallmark scan pypi:mcp-server-time --transcript time.json --junit time.xml

    hallmark scan --from time.json --rubric lint@1 --rubric adaptive --json

    hallmark scan server.json --rubric lint --fail-under 75 --sarif hallmark.sarif

    Exit codes: 0 measured, 1 Hallmark failed, 2 wrong usage, 3 the server could not be tested or has opted out, 4 with
    --fail-under a score is too low or has too little evidence, or --fail-on refuses a check or a finding, 130
    interrupted.
    """
    from workers.cli.measure.scan import run_scan

    run_scan(
        command=ctx.meta.get(_COMMAND),
        target=target,
        source=source,
        rubric=rubric,
        fail_under=fail_under,
        fail_on=fail_on or (),
        baseline=baseline,
        write_baseline=write_baseline,
        allow_private=allow_private,
        no_sandbox=no_sandbox,
        network=network,
        anyway=anyway,
        full=full,
        official_client=official_client,
        deadline=deadline,
        save_to=save_to,
        evidence=evidence,
        verbose=verbose,
        form=form,
        as_json=as_json,
        sarif_file=sarif_file,
        junit_file=junit_file,
    )
