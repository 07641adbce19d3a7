"""The work of `hallmark scan`."""

from __future__ import annotations

from pathlib import Path

import click
from msgspec.structs import replace

from crawler.sandbox.toolchain.configured_indexes import ConfiguredIndexes
from evidence.garbage import keep_imported
from workers.cli.display.console import print_note
from workers.cli.error_boundary import explain_failures
from workers.cli.measure.scan_options import Format, ReportOptions
from workers.cli.session import configure_command_logging
from workers.settings.environment import read_settings, read_tool_environment


def run_scan(
    *,
    command: list[str] | None,
    allow_private: bool,
    no_sandbox: bool,
    network: tuple[str, ...],
    anyway: bool,
    full: bool,
    official_client: bool,
    deadline: float | None,
    began: float,
    save_to: Path | None,
    report: ReportOptions,
) -> None:
    """Measure one server and print its verdict or receipts; end the command with its exit code.

    `began`: when the command began, on the monotonic clock; the deadline includes the time to load the program.
    """
    with explain_failures():
        inputs = None
        if report.rubric or report.baseline or report.write_baseline:  # wrong ones end the scan before it begins
            from workers.cli.results.scan_report import read_report_inputs  # noqa: PLC0415  loads all rules

            inputs = read_report_inputs(report)
        settings = read_settings()
        settings = replace(settings, depth="full" if full else "core")
        if official_client:
            settings = replace(settings, interop="weekly")  # a scan knows no earlier week, so it is due
        if allow_private:
            settings = replace(settings, allow_private=True)
        configure_command_logging(settings, "error")
        indexes = ConfiguredIndexes(read_tool_environment(), settings.cache)
        if (report.target or "").startswith("npm:"):
            indexes.begin_npm()  # while the rest is loaded
        with keep_imported():
            from workers.cli.measure.scan_collection import collect_dossier, read_allowed_endpoints  # noqa: PLC0415

        is_sandboxed = not (no_sandbox or report.source is not None or "://" in (report.target or ""))
        endpoints = read_allowed_endpoints(network, is_sandboxed=is_sandboxed, allow_private=allow_private)
        scanned = collect_dossier(
            settings,
            report.target,
            command,
            report.source,
            endpoints,
            indexes=indexes,
            deadline=deadline,
            began=began,
            no_sandbox=no_sandbox,
            anyway=anyway,
            lines=report.form is Format.TEXT,
        )
        if save_to is not None:
            from workers.cli.measure.scan_file import encode_dossier  # noqa: PLC0415  with the rules

            save_to.write_bytes(encode_dossier(scanned.dossier))
            print_note(f"evidence saved in {save_to}")
        from workers.cli.results.scan_report import report_scan  # noqa: PLC0415  loaded while a package starts

        raise click.exceptions.Exit(report_scan(scanned, report, inputs, allows_private=settings.allow_private))
