"""What each reason for absent evidence means, and what a server's maintainer can do about it."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from evidence.model import Reason


class Advice(Struct, frozen=True):
    """`means` ends "Nothing was measured here:"; `do` addresses the maintainer; `ours` marks our own shortcoming."""

    means: str
    do: str
    ours: bool = False


def advise_on_absence(reason: Reason) -> Advice:
    """The advice for a reason; every reason has one."""
    return _ADVICE[reason]


_ADVICE: Final = {
    Reason.OAUTH_REQUIRED: Advice(
        "the server asks for a token, of OAuth or of its own, before it answers any request.",
        "Nothing is wrong with that. To be measured, answer `initialize` and the list requests without a token, "
        "and ask for one when a tool is called.",
    ),
    Reason.PAYMENT_REQUIRED: Advice(
        "the server asks for a payment before it answers.",
        "Let `initialize` and the list requests through without payment; they cost you little and show what you sell.",
    ),
    Reason.SANDBOX_RESTRICTED: Advice(
        "our sandbox does not provide what the server needs to start, such as the network.",
        "Nothing is wrong with that. To be measured, start and list without network, shell, large files or much memory "
        "and without writing where the package is installed.",
        ours=True,
    ),
    Reason.NO_SANDBOX: Advice(
        "this installation of Hallmark has no sandbox to start packages in.",
        "There is nothing for the maintainer of the server to do. For the operator of Hallmark: `hallmark doctor` "
        "lists what the sandbox lacks.",
        ours=True,
    ),
    Reason.TRANSPORT_UNSUPPORTED: Advice(
        "the registry names a transport that this probe does not support, or stdio for what listens on a port.",
        "Offer streamable HTTP, or a package that uses stdio, and name it in the registry entry.",
    ),
    Reason.WRITE_ONLY: Advice(
        "everything the server offers changes something, so nothing could be tried safely.",
        "Offer at least one read-only tool and mark it with `readOnlyHint`.",
    ),
    Reason.UNREACHABLE: Advice(
        "no connection to the registered address could be made.",
        "Check the address in the registry entry from outside your network: name resolution, port, firewall.",
    ),
    Reason.TIMEOUT: Advice(
        "the server did not answer in time.",
        "Check how long the first request takes after the server was idle. Answer `initialize` before you load "
        "large data.",
    ),
    Reason.RATE_LIMITED: Advice(
        "the server answered 429 again, also after the waiting time that it asked for.",
        "Allow a few requests from one client within some minutes, or send `Retry-After`.",
    ),
    Reason.BLOCKED_BY_WAF: Advice(
        "something in front of the server refused the probe before it reached the server.",
        "Let requests with the Hallmark User-Agent through at your firewall or content network.",
    ),
    Reason.NOT_MCP: Advice(
        "the service at the registered address does not support MCP.",
        "Check the URL in the registry entry, including its path: it must be the endpoint itself, not the home page.",
    ),
    Reason.NO_REPOSITORY: Advice(
        "no source repository is named.",
        "Add `repository` to the registry entry.",
    ),
    Reason.NO_PACKAGE: Advice(
        "the named package does not exist in its registry, or the entry names neither a package nor a remote.",
        "Add `packages` or `remotes` to the registry entry, with the exact name and a published version.",
    ),
    Reason.NO_VERSION: Advice(
        "the package exists in its registry, but not in the version that the entry names.",
        "Publish the declared version, or name one in the entry that the registry has.",
    ),
    Reason.TOO_LARGE: Advice(
        "an answer was larger than the probe reads.",
        "Divide long lists into pages with `nextCursor`, and limit descriptions and schemas to what a client needs.",
    ),
    Reason.OPTED_OUT: Advice(
        "its maintainer asked not to be measured.",
        "Nothing. To be measured again, end the opt-out.",
    ),
    Reason.CREDENTIALS_REQUIRED: Advice(
        "the server needs a key or another secret to start or to answer, and placeholders are not accepted.",
        "Start and answer the list requests without the secret; ask for it when a tool is called. Variables and "
        "arguments that the registry entry declares get placeholders that fit.",
    ),
    Reason.FORBIDDEN: Advice(
        "the server refused the request.",
        "If that is not intended, check who may reach the endpoint and what it checks before `initialize`.",
    ),
    Reason.INSTALL_FAILED: Advice(
        "the package could not be installed.",
        "Install the published version in an empty environment on Linux and fix what fails there.",
    ),
    Reason.INSTALL_SCRIPTS_REQUIRED: Advice(
        "the package only works after its install scripts ran, and they are never run here.",
        "Publish a package that works without install scripts, for instance with prebuilt platform packages.",
    ),
    Reason.RUNTIME_UNSUPPORTED: Advice(
        "the package is of a type that cannot be started here yet.",
        "Nothing is wrong with that. To be measured, publish the server to npm or PyPI too, or offer it at a URL, and "
        "name that in the registry entry; start a command of your own with Python or Node.",
        ours=True,
    ),
    Reason.START_FAILED: Advice(
        "the server was started, but it ended before it answered.",
        "Start it without arguments, configuration, home directory or network: it should answer `initialize` and "
        "list its tools. Names of required arguments belong in the registry entry.",
    ),
    Reason.TLS_ERROR: Advice(
        "no trusted TLS connection could be made.",
        "Check the certificate: its names, its expiry and that the whole chain is sent.",
    ),
    Reason.BLOCKED_ADDRESS: Advice(
        "the registered address leads to a private, local or reserved network.",
        "Register a public address.",
    ),
    Reason.INVALID_REGISTRATION: Advice(
        "the registry entry does not match its schema.",
        "Correct the entry as the error says and publish it again.",
    ),
    Reason.QUARANTINED: Advice(
        "the package is blocked because it may be malicious.",
        "If that is a mistake, contact the package registry.",
    ),
    Reason.COLLECTOR_ERROR: Advice(
        "Hallmark itself failed while it measured this server.",
        "There is nothing for you to do; the fault is ours and is in our log.",
        ours=True,
    ),
    Reason.COLLECTOR_OFFLINE: Advice(
        "this installation of Hallmark had no network when it tried to collect this.",
        "There is nothing for you to do; the next run collects it.",
        ours=True,
    ),
    Reason.NOT_COLLECTED: Advice(
        "this was not yet collected in this run.",
        "There is nothing for you to do.",
        ours=True,
    ),
}
