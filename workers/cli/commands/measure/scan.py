"""The options of `hallmark scan`."""

from __future__ import annotations

import time
from decimal import Decimal, InvalidOperation
from typing import Any, Final

import click

from evidence.garbage import keep_imported
from workers.cli.measure.scan_options import FailOn, Format, take_report_options
from workers.cli.options import ANY_PATH, rubric_option

_COMMAND: Final = "hallmark.command"


def _points(text: str) -> Decimal:
    try:
        points = Decimal(text)
    except InvalidOperation:
        points = Decimal("NaN")
    if not points.is_finite():
        raise click.BadParameter(f"expected a number such as 75, found {text!r}")
    return points


class _ScanCommand(click.Command):
    """Separates the words after `--`, which are the command line of the server."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            cut = args.index("--")
            ctx.meta[_COMMAND] = args[cut + 1 :]
            args = args[:cut]
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "[-- COMMAND ...]"]


@click.command(cls=_ScanCommand)
@click.pass_context
@click.argument(
    "target",
    required=False,
    help="A URL, npm:NAME[@VERSION], pypi:NAME[==VERSION], oci:IMAGE, the folder of a project, a .tgz, .tar.gz "
    "or .whl file, or a server.json.",
)
@click.option("--from", "source", metavar="FILE", type=ANY_PATH, help="Score saved evidence or a capture offline.")
@rubric_option
@click.option(
    "--fail-under",
    metavar="N",
    type=_points,
    help="Exit 4 when a chosen rubric (or the default) scores below N or has too little evidence.",
)
@click.option(
    "--fail-on",
    multiple=True,
    type=click.Choice(FailOn, case_sensitive=False),
    help="Exit 4 when a MUST, or also a SHOULD, of the protocol is violated (must, should), or when there is a "
    "finding of this severity or above (high, medium, low). Repeatable. Default: never.",
)
@click.option(
    "--baseline", metavar="FILE", type=ANY_PATH, help="Accept the findings in this file; report stale entries."
)
@click.option(
    "--write-baseline",
    metavar="FILE",
    type=ANY_PATH,
    help="Accept all findings of now in this file; known reasons stay.",
)
@click.option("--allow-private", is_flag=True, help="Also contact loopback and private addresses.")
@click.option("--no-sandbox", is_flag=True, help="Run the command after -- without a sandbox, with all your rights.")
@click.option(
    "--network",
    metavar="allow:HOST[:PORT]|stub:HOST[:PORT]",
    multiple=True,
    help="Let the server in the sandbox reach this host over TLS, through a proxy named in its environment, or "
    "answer for the host with an empty JSON object. Repeatable. Default: no network.",
)
@click.option("--anyway", is_flag=True, help="Also contact a server that has opted out.")
@click.option(
    "--full/--core",
    default=True,
    help="Send all test requests (at most 110), or those of a nightly run (at most 12), besides calls of tools. "
    "In all a server with every feature gets 107 or 15 requests over streamable HTTP, 39 or 14 over HTTP+SSE, "
    "50 or 16 over stdio.",
)
@click.option("--official-client", is_flag=True, help="Also connect with the official SDK's client (10 requests more).")
@click.option(
    "--deadline",
    metavar="SECONDS",
    type=click.FloatRange(min=1),
    help="End after this time and score what was collected. Installing a package has its own limits. Default: 60; "
    "while a project is installed in the sandbox, its files may be read for 180.",
)
@click.option(
    "--save",
    "--transcript",
    "save_to",
    metavar="FILE",
    type=ANY_PATH,
    help="Save requests and answers, to score them again with --from.",
)
@click.option("--evidence", is_flag=True, help="Like --verbose, plus all observations.")
@click.option("--verbose", "-v", is_flag=True, help="Print the receipts of all methodologies and every check.")
@click.option(
    "--format",
    "form",
    type=click.Choice(Format, case_sensitive=False),
    default=Format.TEXT.value,
    help="Format of the output on stdout.",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json; docs/schemas/scan.json describes it.")
@click.option("--sarif", "sarif_file", metavar="FILE", type=ANY_PATH, help="Also write the findings as SARIF 2.1.0.")
@click.option(
    "--junit", "junit_file", metavar="FILE", type=ANY_PATH, help="Also write the verdict of every check as JUnit XML."
)
def scan(ctx: click.Context, /, **options: Any) -> None:
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

    Exit codes: 0 measured, 1 Hallmark failed, 2 wrong usage, 3 the server could not be tested or has opted out (0 in
    the folder of a project whose files were read, unless --fail-under or --fail-on needs the server), 4 with
    --fail-under a score is too low or has too little evidence, or --fail-on refuses a check or a finding, 130
    interrupted.
    """
    began = time.monotonic()
    with keep_imported():
        from workers.cli.measure.scan import run_scan

    report = take_report_options(options)
    run_scan(command=ctx.meta.get(_COMMAND), began=began, report=report, **options)
